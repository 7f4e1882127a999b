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

// Which net predicts, and where the names of its classes come from.
struct NetOptions {
  // Folder of a training run, a checkpoint of it, or a safetensors file with torchvision's names.
  std::filesystem::path run;
  train::CheckpointChoice checkpoint{};  // which checkpoint of the run is used
  train::FileNetOptions file{};          // architecture of the net, if it is a safetensors file
  // Class names in the order of the outputs, for nets that do not store them: a file with a JSON
  // list or one name per line (`classes`), or the cache that the net was trained on (`cache`).
  std::filesystem::path classes{};
  std::filesystem::path cache{};
  std::string tta{};  // test-time augmentation, see test_augmentation.h; empty: none
  bool with_features = false;
};

// A net with its weights, which predicts a probability for each class.
struct Net {
  train::StoredConfig config;
  train::Graph graph;  // graph made by for_prediction()
  train::Model model;
  std::vector<std::string> classes;  // names of the classes in UTF-8, in the order of the outputs
  std::string checkpoint{};          // name of the run's checkpoint: "step-400"
  bool ema = false;
  bool sigmoid = false;  // true if an image may have any number of classes
  train::ViewMean view_mean{};

  std::size_t micro_batch() const;
  pipeline::Geometry geometry() const;
};

// Loads the net and the names of its classes.
//
// note    Sink for user-facing messages.
// Throws  UsageError: no net or no checkpoint; a net trained without labels; class names that are
//         unknown, or that do not match the net. FormatError: damaged files.
Net load_net(const NetOptions& options, const std::function<void(std::string)>& note);

// Reads class names from a file: a JSON list of texts, or one name per line. UTF-8. Throws
// UsageError: the file has no name, or one twice.
std::vector<std::string> read_classes(const std::filesystem::path& file);

// The net's outputs for a micro-batch (the images that it takes at once).
struct Outputs {
  std::vector<float> probabilities;  // probabilities: (images, classes)
  std::vector<float> features;  // feature vectors: (images, dimensions); empty if not asked for
};

// Copies of one net's program that run in parallel. Each is used by one thread at a time. Net and
// backend must outlive them. On a CPU each has one thread, so that the bits of results do not
// depend on the number of lanes.
class Lanes {
 public:
  Lanes(Net& net, train::Backend& backend, train::DType compute, int lanes);
  ~Lanes();

  int count() const noexcept;
  std::size_t dimensions() const noexcept;  // length of a feature vector; 0: no features

  // Predicts a micro-batch on lane `lane`. `pixels`: NHWC, for as many images as a micro-batch has.
  Outputs compute(int lane, std::span<std::uint8_t> pixels);

 private:
  struct Lane;
  const Net& net_;
  std::unique_ptr<train::WeightStore> weights_;
  std::vector<std::unique_ptr<train::Program>> programs_;
  std::vector<std::unique_ptr<Lane>> lanes_;
};

}  // namespace winnow::app
