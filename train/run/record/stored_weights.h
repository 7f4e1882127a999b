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

// For weights from a file only. A run knows these itself.
struct FileNetOptions {
  NetChoice net;                      // or a file that load_weights() reads
  int image_side_px = 0;              // as DataOptions has it
  std::optional<int> eval_resize_px;  // likewise; none given: no margin
};

// A net with the numbers of a safetensors file that has torchvision's names.
struct StoredWeights {
  StoredConfig config;  // of its setup and eval_resize_px
  Graph graph;          // for inference
  Model model;
  InitialWeights from;  // what was taken of the file
};

// Who takes the numbers of a file: a classifier whose outputs stand for the cache's classes, or
// what needs no classes.
enum class FileUse { kClasses, kFeatures };

// Fits the net to the images of the cache `info` describes, as training on it would, and reads the
// file. UsageError: no net is named, or net and file do not fit; as load_initial_weights().
StoredWeights load_weights(const std::filesystem::path& file, const FileNetOptions& options,
                           const std::filesystem::path& cache, const pipeline::DatasetInfo& info,
                           FileUse use);

}  // namespace winnow::train
