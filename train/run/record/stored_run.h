#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "train/graph/graph.h"
#include "train/model/model.h"
#include "train/run/record/setup.h"

namespace winnow::train {

// Which weights of a run to use.
struct CheckpointChoice {
  std::string name;  // name of the checkpoint: "best", "step-400"; empty: the newest intact one
  bool ema = false;  // use the moving averages of the weights instead of the weights
  // Number of the local head (auxiliary classifier of a stage) to use; 0: the net's own.
  int head = 0;
};

// A net with the weights of a checkpoint.
struct StoredRun {
  StoredConfig config;
  Graph graph;  // for inference
  Model model;
  double epoch = 0;
  std::string checkpoint;  // name of the checkpoint: "step-400", "best"
  bool ema = false;        // `model` has the moving averages of the weights
};

// Loads a net and its weights from a run's folder. The checkpoint "best" is read with its moving
// averages if it was chosen by them.
//
// note    Sink for user-facing messages: damaged checkpoints that were skipped, and averages that
//         were used by default.
// Throws  UsageError: no run, no such checkpoint, or no averages in it. FormatError: damaged files.
StoredRun load_run(const std::filesystem::path& run, const CheckpointChoice& choice,
                   const std::function<void(std::string)>& note);

}  // namespace winnow::train
