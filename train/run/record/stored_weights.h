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

// Options needed to use weights from a file. For a run they are stored in its folder.
struct FileNetOptions {
  NetChoice net;          // name of a built-in net, or a file that describes one
  int image_side_px = 0;  // side of the net's input in pixels, as in DataOptions
  // Shorter side before the crop of evaluation, as in DataOptions; nullopt: the side of the crop.
  std::optional<int> eval_resize_px;
};

// A net with the weights of a safetensors file that has torchvision's tensor names.
struct StoredWeights {
  StoredConfig config;  // only `setup` and `eval_resize_px` are set
  Graph graph;          // for inference
  Model model;
  InitialWeights from;  // which tensors the file provided
};

// Whether weights from a file classify the cache's classes, or only compute features.
enum class FileUse { kClasses, kFeatures };

// Fits the net to the images described by `info`, as for training on that cache, and reads the
// weights from `file`.
// Throws  UsageError if no net is named, or if net and file do not match; otherwise as
//         load_initial_weights().
StoredWeights load_weights(const std::filesystem::path& file, const FileNetOptions& options,
                           const std::filesystem::path& cache, const pipeline::DatasetInfo& info,
                           FileUse use);

}  // namespace winnow::train
