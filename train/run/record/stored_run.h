#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "train/graph/graph.h"
#include "train/model/model.h"
#include "train/run/record/setup.h"

namespace winnow::train {

// Which numbers of a run.
struct CheckpointChoice {
  std::string name;  // "best", "step-400"; empty: the newest sound one
  bool ema = false;  // its moving averages, in place of the weights
  int head = 0;      // of a net that learnt by local updates: this one's in place of the net's
};

// A net with the numbers of a checkpoint.
struct StoredRun {
  StoredConfig config;
  Graph graph;  // for inference
  Model model;
  double epoch = 0;
  std::string checkpoint;  // "step-400", "best"
  bool ema = false;        // they are its moving averages
};

// Reads a run's folder. Of the checkpoint `best`, where that is the best of the moving averages,
// these.
//
// note    Takes sentences for people: damaged checkpoints that were passed over, averages taken
//         unasked.
// Throws  UsageError: no run, no such checkpoint or none with averages. FormatError: files that
//         are damaged.
StoredRun load_run(const std::filesystem::path& run, const CheckpointChoice& choice,
                   const std::function<void(std::string)>& note);

}  // namespace winnow::train
