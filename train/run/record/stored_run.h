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
  std::string name;  // "best", "step-400"; empty: the newest intact one
  bool ema = false;  // its moving averages instead of the weights
  int head = 0;      // for nets with local updates: this head instead of the net's
};

// A net with the weights of a checkpoint.
struct StoredRun {
  StoredConfig config;
  Graph graph;  // for inference
  Model model;
  double epoch = 0;
  std::string checkpoint;  // "step-400", "best"
  bool ema = false;        // the weights are its moving averages
};

// Reads a run's folder. If the checkpoint `best` was chosen by its moving averages, these are used.
//
// note    Sink for user-facing messages: damaged checkpoints that were skipped, and averages that
//         were used by default.
// Throws  UsageError: no run, no such checkpoint, or none with averages. FormatError: damaged
//         files.
StoredRun load_run(const std::filesystem::path& run, const CheckpointChoice& choice,
                   const std::function<void(std::string)>& note);

}  // namespace winnow::train
