#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
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
  pipeline::Placement placement;            // location of the cache's shards
  std::string selection;                    // its name; empty: everything
  std::optional<pipeline::Recipe> augment;  // nullopt: see recipe_of()
  int image_side_px = 0;  // 0: the size of the images, or the net's default if they differ
  std::optional<int> eval_resize_px;   // nullopt: see eval_resize_of()
  pipeline::SamplingOptions sampling;  // for the training samples
  double holdout = 0;  // share of the training samples to validate on instead, see hold_out()
};

struct RateOptions {
  double base = 0.1;
  double warmup_epochs = 1;
  std::string schedule = "cosine";  // after the warm-up
};

struct RecipeOptions {
  std::string optimizer = "sgd";
  RateOptions rate;
  OptionValues options;  // given ones, for optimiser and schedule
  double epochs = 10;
  LossOptions loss;
  std::uint64_t seed = 1;
  // name of the net's own recipe, if it was applied by default; stored in config.json
  std::string own;
  LocalOptions local;
};

struct BatchOptions {
  std::int64_t batch = 128;  // B, over all ranks
  // m, the group of batch norm. 0: default_micro_batch(B), or micro_batch_of_views(B) for losses
  // that read no labels.
  std::int64_t micro_batch = 0;
  bool sync_bn = false;  // the group of batch norm is the whole batch
};

struct AllReduceOptions {
  std::string schedule{comm::kAutoSchedule};  // or one of comm::schedules()
  comm::ScheduleOptions grain;
  comm::Wire wire = comm::Wire::kF32;
  bool error_feedback = false;   // with a bf16 wire, see SumOptions
  bool checksums = false;        // with each message
  std::size_t bucket_bytes = 0;  // gradients reduced at a time; 0: Layout's default, or chosen
};

struct ExecutionOptions {
  std::string backend = "onednn";
  DType dtype = DType::kF32;
  ThreadPlan threads;
  int lane_threads = 0;       // for each lane; 0: see choose_lane_threads()
  bool reproducible = false;  // the same bits for any number of ranks, lanes and any schedule
  AllReduceOptions all_reduce;
  double loss_scale = 0;         // for f16, a fixed one; 0: adaptive, see loss_scale.h
  std::size_t memory_bytes = 0;  // memory limit of a rank; 0: what the machine has available
};

struct CheckpointOptions {
  int interval = 0;  // steps between checkpoints within an epoch; 0: only at the ends of epochs
  int kept = 2;      // number of newest ones to keep
};

struct EvaluationOptions {
  std::int64_t interval = 0;  // steps between evaluations on val; 0: at the ends of epochs
  std::string keep_best{};  // METRIC[:SPLIT] that defines the best checkpoint; empty: none is kept
  std::int64_t patience = 0;  // evaluations without improvement before the run ends; 0: no limit
  std::string tta{};          // test-time augmentation of all evaluations; empty: none
};

struct LogOptions {
  int interval = 50;         // steps between lines of metrics.jsonl
  bool batches = false;      // also log a digest of every global batch
  bool tensorboard = false;  // also write an event file, see event_file.h
  LineSink sink{};           // also receives each line; may be empty
  // traces steps, and provides the run's communicator; nullptr: no tracing
  RunTrace* trace = nullptr;
};

struct RunOptions {
  std::filesystem::path out;  // RUN: config.json, plan.json, metrics.jsonl, checkpoints/
  bool resume = false;        // resume from the newest complete checkpoint, if there is one
  bool replan = false;        // make a new plan if the stored one does not fit
  CheckpointOptions checkpoints;
  LogOptions log;
  EvaluationOptions evaluation;
  std::int64_t max_steps = 0;  // stop early, as if the last epoch ended there; 0: no
  StopRequested stop;          // checked once a step on every rank; one request is enough
};

struct TrainOptions {
  NetChoice net{.name = "resnet20"};  // or a file that train() reads, see choose_net()
  DataOptions data;
  pipeline::ClassWeights class_weights;  // for the training samples
  StartOptions start;
  RecipeOptions recipe;
  BatchOptions batch;
  ExecutionOptions execution;
  RunOptions run;
};

}  // namespace winnow::train
