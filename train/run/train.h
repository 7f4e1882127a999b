#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/comm/communicator.h"
#include "common/progress.h"
#include "common/sample.h"
#include "common/stop.h"
#include "common/thread_plan.h"
#include "pipeline/load/exchange.h"
#include "pipeline/load/loader.h"
#include "pipeline/load/sampler.h"
#include "train/model/initial_weights.h"
#include "train/optim/options.h"
#include "train/tensor/tensor.h"

namespace winnow::train {

class Backend;

struct DataOptions {
  std::filesystem::path cache;
  pipeline::Placement placement;  // of its shards
  std::string selection;          // name of a selection; empty: everything
  // None: kCifar, unless training images are stored in variants made by a recipe.
  std::optional<pipeline::Recipe> augment;
  int image_side_px = 0;  // 0: the size of the images, or the net's default where they differ
  // Shorter side that pictures are resized to before the centre is cut for evaluation; 0: that of
  // what is cut. None: see eval_resize_of().
  std::optional<int> eval_resize_px;
  pipeline::SamplingOptions sampling;  // of the training samples
  double holdout = 0;  // share of the training samples to validate on instead, see hold_out()
};

struct RecipeOptions {
  std::string optimizer = "sgd";
  std::string lr_schedule = "cosine";  // after the warm-up
  OptionValues options;                // given ones, of the optimiser and the schedule
  double lr = 0.1;
  double warmup_epochs = 1;
  double epochs = 10;
  double label_smoothing = 0;
  std::uint64_t seed = 1;
};

struct BatchOptions {
  std::int64_t batch = 128;      // B, of all ranks together
  std::int64_t micro_batch = 0;  // m, the group of batch norm; 0: default_micro_batch(B)
};

struct ExecutionOptions {
  std::string backend = "onednn";
  DType dtype = DType::kF32;
  ThreadPlan threads;
  int lane_threads = 0;       // of each lane; 0: see choose_lane_threads()
  bool reproducible = false;  // the same bits for any number of ranks, lanes and any schedule
  std::string schedule = "multicolor";
  comm::ScheduleOptions schedule_options;
  std::size_t bucket_bytes = 1u << 20;
};

struct RunOptions {
  std::filesystem::path out;  // RUN: config.json, plan.json, metrics.jsonl, checkpoints/, summary
  bool resume = false;        // go on from the newest complete checkpoint, if there is one
  bool replan = false;        // where the stored plan does not fit, make a new one
  int recovery_interval = 0;  // steps between checkpoints inside an epoch; 0: none
  int log_interval = 50;      // steps between lines of metrics.jsonl
  bool log_batches = false;   // a digest of every global batch goes to metrics.jsonl
  int checkpoints_kept = 2;
  std::int64_t max_steps = 0;  // stop early, as if the last epoch ended there; 0: no
  StopRequested stop;          // asked once a step, on every rank; one of them is enough
};

struct TrainOptions {
  std::string net = "resnet20";
  DataOptions data;
  StartOptions start;
  RecipeOptions recipe;
  BatchOptions batch;
  ExecutionOptions execution;
  RunOptions run;
};

// What went well and what came out; equal on all ranks.
struct TrainResult {
  double epoch = 0;
  std::int64_t steps = 0;
  double train_loss = 0;  // mean over the last epoch's steps
  double top1 = 0;        // in [0, 1], on `split`
  std::optional<double> top1_leak_free;
  std::string split;             // "test"; "val" where there is no test split, or a hold-out
  double images_per_second = 0;  // of training, evaluation left out
  double data_wait_seconds = 0;
  double exposed_comm_seconds = 0;
  int repeated_steps = 0;  // of a reproducible run, see fixed_point.h
};

// Trains a net on a cache and evaluates it; collective. The number of ranks changes who computes a
// micro-batch, not what is computed. Writes into options.run.out as it goes: a line of metrics
// every log_interval steps, a checkpoint after every epoch and recovery_interval steps. Validation
// data is evaluated after every epoch, test data once, at the end, and not at all with a hold-out:
// who chooses by that shall not see it. `note` takes sentences for people. Throws UsageError for
// options that do not fit the data or each other, comm::AgreedError with exit code 75 when asked to
// stop, after a checkpoint, Error when the loss is not finite or ranks differ.
TrainResult train(const TrainOptions& options, comm::Communicator& comm,
                  const ProgressSink& progress, const std::function<void(std::string)>& note);

// The same on `backend`, which options.execution.backend names.
TrainResult train(const TrainOptions& options, Backend& backend, comm::Communicator& comm,
                  const ProgressSink& progress, const std::function<void(std::string)>& note);

// A trained run, or weights from elsewhere, evaluated.
struct EvalOptions {
  std::filesystem::path run;  // a run's folder, or a safetensors file with torchvision's names
  std::filesystem::path cache;
  pipeline::Placement placement;      // of its shards
  std::string net;                    // the file's; a run knows its own
  int image_side_px = 0;              // for a file, as DataOptions has it
  std::optional<int> eval_resize_px;  // likewise; none: no margin
  bool with_logits = false;
  std::string selection;  // for the leak-free figure; empty: the one the run was trained with
  std::string split;      // "train", "val", "test"; empty: test, else val
  std::string backend = "onednn";
  DType dtype = DType::kF32;
  ThreadPlan threads;
};

struct EvalResult {
  std::optional<double> epoch;  // of a run
  std::string split;
  double loss = 0;
  double top1 = 0;
  std::optional<double> top1_leak_free;
  std::uint64_t samples = 0;
  std::uint64_t leaked = 0;
  double images_per_second = 0;
  std::vector<std::string> classes;
  std::vector<SampleId> ids;  // in id order
  std::vector<std::int32_t> labels;
  std::vector<std::int32_t> predictions;
  std::vector<float> logits;  // (ids, classes), when asked for
};

// Collective. Weights of a file are given the images as training on the cache would. Throws
// UsageError when the net does not fit the cache.
EvalResult evaluate_run(const EvalOptions& options, comm::Communicator& comm,
                        const ProgressSink& progress);
EvalResult evaluate_run(const EvalOptions& options, Backend& backend, comm::Communicator& comm,
                        const ProgressSink& progress);

}  // namespace winnow::train
