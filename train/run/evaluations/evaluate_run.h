#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/comm/communicator.h"
#include "common/progress.h"
#include "common/sample.h"
#include "common/thread_plan.h"
#include "pipeline/load/dataset.h"
#include "train/evaluate/evaluate.h"
#include "train/run/record/stored_run.h"
#include "train/run/record/stored_weights.h"
#include "train/tensor/tensor.h"

namespace winnow::train {

class Backend;

struct EvalDataOptions {
  std::filesystem::path cache;
  pipeline::Placement placement;  // location of the cache's shards
  std::string selection;          // for the leak-free accuracy; empty: the one used in training
  // "train", "val", "test", "none"; or "holdout": the run's hold-out. Empty: the first of test, val
  // and hold-out that exists.
  std::string split;
  std::string tta;                // a name in test_augmentation.h; empty: each image unchanged
  bool allow_unlabelled = false;  // as in LossOptions, even if the run did not allow it
};

struct EvalOptions {
  std::filesystem::path run;      // a run's folder, or a safetensors file with torchvision's names
  CheckpointChoice checkpoint{};  // checkpoint of the run to use
  FileNetOptions file;
  EvalDataOptions data;
  bool with_logits = false;
  std::string backend = "onednn";
  DType dtype = DType::kF32;
  ThreadPlan threads;
};

struct EvalResult {
  std::optional<double> epoch;  // only for runs
  std::string split;
  Evaluation evaluation;
  double images_per_second = 0;
  std::vector<std::string> classes;
  std::vector<SampleId> ids;  // ascending
  // labels of these images, see several_labels()
  std::optional<pipeline::SampleLabels> several_labels{};
};

// Evaluates a trained run, or weights from elsewhere. Collective.
//
// In      A run: its newest intact checkpoint, or the chosen one. A file: images are prepared as in
//         a training on the cache.
// note    Sink for user-facing messages about damaged checkpoints that were skipped.
// Throws  UsageError if the net does not fit the cache.
EvalResult evaluate_run(const EvalOptions& options, comm::Communicator& comm,
                        const ProgressSink& progress, const std::function<void(std::string)>& note);
EvalResult evaluate_run(const EvalOptions& options, Backend& backend, comm::Communicator& comm,
                        const ProgressSink& progress, const std::function<void(std::string)>& note);

}  // namespace winnow::train
