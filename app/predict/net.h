#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "pipeline/augment/augment.h"
#include "pipeline/load/batch.h"
#include "train/backend/backend.h"
#include "train/backend/weights.h"
#include "train/evaluate/view_mean.h"
#include "train/graph/graph.h"
#include "train/model/model.h"
#include "train/run/record/stored_run.h"
#include "train/run/record/stored_weights.h"

namespace winnow::app {

// Which net predicts, and the names of its classes.
struct NetOptions {
  // A run's folder, one of its checkpoints, or a safetensors file with torchvision's names.
  std::filesystem::path run;
  train::CheckpointChoice checkpoint{};  // checkpoint of the run
  train::FileNetOptions file{};          // net of the file
  // Class names in the order of the outputs, for nets that do not name theirs: a file with a JSON
  // list or a name per line, or the cache that the net was trained on.
  std::filesystem::path classes{};
  std::filesystem::path cache{};
  std::string tta{};  // see test_augmentation.h; empty: each image as it is
  bool with_features = false;
};

// A net with its weights. It gives each image a probability for each class.
struct Net {
  train::StoredConfig config;
  train::Graph graph;  // from for_prediction()
  train::Model model;
  std::vector<std::string> classes;  // UTF-8, in the order of the outputs
  std::string checkpoint{};          // for a run: "step-400"
  bool ema = false;
  bool sigmoid = false;  // an image may have any number of classes
  train::ViewMean view_mean{};

  std::size_t micro_batch() const;
  pipeline::Geometry geometry() const;
};

// note    Sink for user-facing messages.
// Throws  UsageError: no net, no checkpoint, trained without labels; classes that are unknown, or
//         whose number or names differ from the net's. FormatError: damaged files.
Net load_net(const NetOptions& options, const std::function<void(std::string)>& note);

// Reads class names from a file: a JSON list of texts, or a name per line. UTF-8. Throws
// UsageError: none, or a name twice.
std::vector<std::string> read_classes(const std::filesystem::path& file);

// The net's outputs for a micro-batch.
struct Outputs {
  std::vector<float> probabilities;  // (size, classes)
  std::vector<float> features;       // (size, dimensions); empty if not asked for
};

// Programs of one net that run in parallel, each used by one thread at a time. The net and the
// backend must outlive them. On a CPU each has one thread, so that the bits do not depend on their
// number.
class Lanes {
 public:
  Lanes(Net& net, train::Backend& backend, train::DType compute, int lanes);
  ~Lanes();

  int count() const noexcept;
  std::size_t dimensions() const noexcept;  // length of features; 0: no features

  // Computes a micro-batch on lane `lane`. `pixels`: NHWC, for all images of a micro-batch.
  Outputs compute(int lane, std::span<std::uint8_t> pixels);

 private:
  struct Lane;
  const Net& net_;
  std::unique_ptr<train::WeightStore> weights_;
  std::vector<std::unique_ptr<train::Program>> programs_;
  std::vector<std::unique_ptr<Lane>> lanes_;
};

}  // namespace winnow::app
