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
  // Selection for the leak-free accuracy; empty: the selection used in training.
  std::string selection;
  // The split to evaluate: "train", "val", "test", "none" (images of no split); or "holdout", the
  // training images that the run set aside. Empty: the first of test, val and holdout that exists.
  std::string split;
  // Name of a test-time augmentation (test_augmentation.h); empty: each image unchanged.
  std::string tta;
  // An image without labels counts as one of no class, even if the run did not allow it.
  bool allow_unlabelled = false;
};

struct EvalOptions {
  // A run's folder, or a safetensors file with torchvision's tensor names.
  std::filesystem::path run;
  CheckpointChoice checkpoint{};  // which checkpoint to use if `run` is a run's folder
  FileNetOptions file;
  EvalDataOptions data;
  bool with_logits = false;
  std::string backend = "onednn";
  DType dtype = DType::kF32;
  ThreadPlan threads;
};

struct EvalResult {
  std::optional<double> epoch;  // epochs trained at the checkpoint; nullopt for weights from a file
  std::string split;
  Evaluation evaluation;
  double images_per_second = 0;
  std::vector<std::string> classes;
  std::vector<SampleId> ids;  // evaluated images, ascending
  // Labels of the evaluated images, if an image may have several (several_labels()); else nullopt.
  std::optional<pipeline::SampleLabels> several_labels{};
};

// Evaluates a trained run, or weights from a file, on a cache. Collective.
//
// In      Of a run, its newest intact checkpoint or the chosen one. For a file of weights, images
//         are prepared as in a training on the cache.
// note    Sink for user-facing messages about damaged checkpoints that were skipped.
// Throws  UsageError if the net does not fit the cache.
EvalResult evaluate_run(const EvalOptions& options, comm::Communicator& comm,
                        const ProgressSink& progress, const std::function<void(std::string)>& note);
EvalResult evaluate_run(const EvalOptions& options, Backend& backend, comm::Communicator& comm,
                        const ProgressSink& progress, const std::function<void(std::string)>& note);

}  // namespace winnow::train
