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
  pipeline::Placement placement;  // of its shards
  std::string selection;  // for the leak-free figure; empty: the one the run was trained with
  // "train", "val", "test", "none"; "holdout": what the run held out of training. Empty: the first
  // of test, val and the hold-out that there is.
  std::string split;
  std::string tta;                // as test_augmentation.h names it; empty: each image as it is
  bool allow_unlabelled = false;  // as LossOptions have it, also where the run's have not
};

struct EvalOptions {
  std::filesystem::path run;      // a run's folder, or a safetensors file with torchvision's names
  CheckpointChoice checkpoint{};  // of the run
  FileNetOptions file;
  EvalDataOptions data;
  bool with_logits = false;
  std::string backend = "onednn";
  DType dtype = DType::kF32;
  ThreadPlan threads;
};

struct EvalResult {
  std::optional<double> epoch;  // of a run
  std::string split;
  Evaluation evaluation;
  double images_per_second = 0;
  std::vector<std::string> classes;
  std::vector<SampleId> ids;                               // in id order
  std::optional<pipeline::SampleLabels> several_labels{};  // of these, see several_labels()
};

// Evaluates a trained run, or weights from elsewhere. Collective.
//
// In       A run: its newest sound checkpoint, or the one that is named. A file: gets the images as
// training on the cache
//          would.
// note     Takes sentences for people: damaged checkpoints that were passed over.
// Throws   UsageError when the net does not fit the cache.
EvalResult evaluate_run(const EvalOptions& options, comm::Communicator& comm,
                        const ProgressSink& progress, const std::function<void(std::string)>& note);
EvalResult evaluate_run(const EvalOptions& options, Backend& backend, comm::Communicator& comm,
                        const ProgressSink& progress, const std::function<void(std::string)>& note);

}  // namespace winnow::train
