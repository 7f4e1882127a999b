#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "train/graph/graph.h"
#include "train/model/model.h"
#include "train/run/setup.h"

namespace winnow::train {

// A net with the numbers of a checkpoint.
struct StoredRun {
  StoredConfig config;
  Graph graph;  // for inference
  Model model;
  double epoch = 0;
};

// Reads a run's folder.
//
// checkpoint  Its name; empty: the newest sound one.
// note        Takes sentences for people: damaged checkpoints that were passed over.
// Throws      UsageError: no run, or no such checkpoint. FormatError: files that are damaged.
StoredRun load_run(const std::filesystem::path& run, const std::string& checkpoint,
                   const std::function<void(std::string)>& note);

}  // namespace winnow::train
