#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/load/dataset.h"
#include "train/graph/graph.h"
#include "train/model/initial_weights.h"
#include "train/model/model.h"
#include "train/nets/net_file.h"
#include "train/run/record/setup.h"

namespace winnow::train {

// For weights from a file. A run has this information itself.
struct FileNetOptions {
  NetChoice net;                      // or a file that load_weights() reads
  int image_side_px = 0;              // as in DataOptions
  std::optional<int> eval_resize_px;  // as in DataOptions; nullopt: no margin
};

// A net with the weights of a safetensors file that has torchvision's names.
struct StoredWeights {
  StoredConfig config;  // with its setup and eval_resize_px
  Graph graph;          // for inference
  Model model;
  InitialWeights from;  // how the file was used
};

// How the weights are used: with a classifier for the cache's classes, or without classes.
enum class FileUse { kClasses, kFeatures };

// Fits the net to the images of the cache described by `info`, as a training on it would, and reads
// the file.
// Throws UsageError if no net is named, or if net and file do not match; otherwise as
// load_initial_weights().
StoredWeights load_weights(const std::filesystem::path& file, const FileNetOptions& options,
                           const std::filesystem::path& cache, const pipeline::DatasetInfo& info,
                           FileUse use);

}  // namespace winnow::train
