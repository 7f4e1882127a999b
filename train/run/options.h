#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "common/comm/communicator.h"
#include "common/comm/schedule/choice.h"
#include "common/stop.h"
#include "common/thread_plan.h"
#include "pipeline/load/class_weights.h"
#include "pipeline/load/dataset.h"
#include "pipeline/load/loader.h"
#include "pipeline/load/sampler.h"
#include "train/model/initial_weights.h"
#include "train/nets/local_updates.h"
#include "train/nets/losses.h"
#include "train/nets/net_file.h"
#include "train/optim/options.h"
#include "train/run/log/logged_line.h"
#include "train/tensor/tensor.h"

namespace winnow::train {

class RunTrace;

struct DataOptions {
  std::filesystem::path cache;
  pipeline::Placement placement;  // location of the cache's shards
  std::string selection;          // name of the selection; empty: all samples
  // Recipe for training images; nullopt: the default of recipe_of().
  std::optional<pipeline::Recipe> augment;
  // Side of the net's input in pixels; 0: the size of the images, or the net's default if they
  // differ.
  int image_side_px = 0;
  // Shorter side before the crop of evaluation, in pixels; nullopt: the default of
  // eval_resize_of().
  std::optional<int> eval_resize_px;
  pipeline::SamplingOptions sampling;  // how training samples are drawn
  // Share of the training samples to set aside and validate on, see hold_out(); 0: none.
  double holdout = 0;
};

struct RateOptions {
  double base = 0.1;
  double warmup_epochs = 1;
  std::string schedule = "cosine";  // learning rate schedule after the warm-up
};

struct RecipeOptions {
  std::string optimizer = "sgd";
  RateOptions rate;
  OptionValues options;  // options of optimiser and schedule that were given explicitly
  double epochs = 10;
  LossOptions loss;
  std::uint64_t seed = 1;
  // Name of the net's own training recipe, if it was applied by default. Stored in config.json.
  std::string own;
  LocalOptions local;
};

struct BatchOptions {
  std::int64_t batch = 128;  // global batch size B, over all ranks
  // Micro-batch size m: samples that pass through the net together and share batch norm statistics.
  // 0: default_micro_batch(B), or micro_batch_of_views(B) for losses that read no labels.
  std::int64_t micro_batch = 0;
  bool sync_bn = false;  // batch norm statistics are taken over the whole global batch
};

struct AllReduceOptions {
  // All-reduce algorithm: one of comm::schedules(), or chosen by measurement.
  std::string schedule{comm::kAutoSchedule};
  comm::ScheduleOptions grain;
  comm::Wire wire = comm::Wire::kF32;
  // Add the rounding error of bf16 messages to the next step, see SumOptions.
  bool error_feedback = false;
  bool checksums = false;  // send a checksum with each message and verify it
  // Bytes of gradients that are reduced together; 0: a default, or chosen by measurement.
  std::size_t bucket_bytes = 0;
};

// How each lane (replica of the program) computes.
struct LaneOptions {
  int threads = 0;  // threads of each lane; 0: as choose_lane_threads() chooses
  // Kernels to impose, by layer: KernelChoices of train/backend. The library chooses for others.
  std::map<std::string, std::string> kernels{};
};

struct ExecutionOptions {
  std::string backend = "onednn";
  DType dtype = DType::kF32;
  ThreadPlan threads;
  LaneOptions lanes;
  // Bitwise equal weights for any number of ranks and lanes (program replicas) and any all-reduce
  // algorithm.
  bool reproducible = false;
  AllReduceOptions all_reduce;
  double loss_scale = 0;  // fixed loss scale for f16; 0: adaptive, see loss_scale.h
  // Memory limit of a rank in bytes; 0: what the machine has available.
  std::size_t memory_bytes = 0;
};

struct CheckpointOptions {
  // Steps between checkpoints within an epoch; 0: checkpoints only at the ends of epochs.
  int interval = 0;
  int kept = 2;  // number of newest checkpoints to keep
};

struct EvaluationOptions {
  std::int64_t interval = 0;  // steps between evaluations on val; 0: at the ends of epochs
  std::string keep_best{};  // METRIC[:SPLIT] that defines the best checkpoint; empty: none is kept
  std::int64_t patience = 0;  // evaluations without improvement before the run ends; 0: no limit
  std::string tta{};          // name of the test-time augmentation of all evaluations; empty: none
};

struct LogOptions {
  int interval = 50;         // steps between lines of metrics.jsonl
  bool batches = false;      // also log a digest of every global batch
  bool tensorboard = false;  // also write an event file, see event_file.h
  LineSink sink{};           // callback that also receives each line; may be empty
  // Records a trace of some steps and wraps the run's communicator; nullptr: no tracing.
  RunTrace* trace = nullptr;
};

struct RunOptions {
  // Folder of the run: config.json, plan.json, metrics.jsonl, checkpoints/.
  std::filesystem::path out;
  bool resume = false;  // continue from the newest complete checkpoint, if there is one
  bool replan = false;  // make a new execution plan if the stored one does not fit this job
  CheckpointOptions checkpoints;
  LogOptions log;
  EvaluationOptions evaluation;
  // Number of steps after which to end the run, as if the last epoch ended there; 0: no limit.
  std::int64_t max_steps = 0;
  // Request to stop, checked once a step on every rank; a request on one rank is enough.
  StopRequested stop;
};

struct TrainOptions {
  // Name of a built-in net, or a file that describes one, see choose_net().
  NetChoice net{.name = "resnet20"};
  DataOptions data;
  pipeline::ClassWeights class_weights;  // loss weights of the classes, for the training samples
  StartOptions start;
  RecipeOptions recipe;
  BatchOptions batch;
  ExecutionOptions execution;
  RunOptions run;
};

}  // namespace winnow::train
