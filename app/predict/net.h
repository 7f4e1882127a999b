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

// Which net predicts, and what its outputs are called.
struct NetOptions {
  std::filesystem::path run;  // a run's folder, one of its checkpoints, or a safetensors file with
                              // torchvision's names
  train::CheckpointChoice checkpoint{};  // of the run
  train::FileNetOptions file{};          // of the file
  // Names of the classes in the order of the outputs, of nets that do not name theirs: a JSON list,
  // or a name a line; or the cache that the net was trained on.
  std::filesystem::path classes{};
  std::filesystem::path cache{};
  std::string tta{};  // as test_augmentation.h names it; empty: each image as it is
  bool with_features = false;
};

// A net with its numbers, that gives each image a probability for each class.
struct Net {
  train::StoredConfig config;
  train::Graph graph;  // for_prediction()
  train::Model model;
  std::vector<std::string> classes;  // UTF-8, of the outputs in their order
  std::string checkpoint{};          // of a run: "step-400"
  bool ema = false;
  bool sigmoid = false;  // an image has any number of the classes
  train::ViewMean view_mean{};

  std::size_t micro_batch() const;
  pipeline::Geometry geometry() const;
};

// note    Takes sentences for people.
// Throws  UsageError: no net, no checkpoint, no labels learnt, classes that are not known, are of
//         another number or of other names than those of the net. FormatError: damaged files.
Net load_net(const NetOptions& options, const std::function<void(std::string)>& note);

// The classes that a file names: a JSON list of texts, or a text of a name a line. UTF-8.
// Throws UsageError: none, or one twice.
std::vector<std::string> read_classes(const std::filesystem::path& file);

// What a net says of a micro-batch.
struct Outputs {
  std::vector<float> probabilities;  // (size, classes)
  std::vector<float> features;       // (size, dimensions); empty where they are not asked for
};

// Programs of one net that compute side by side, each by one thread at a time. The net and the
// backend must outlive them. On a CPU each has one thread, so that a micro-batch has the same bits
// whatever their number.
class Lanes {
 public:
  Lanes(Net& net, train::Backend& backend, train::DType compute, int lanes);
  ~Lanes();

  int count() const noexcept;
  std::size_t dimensions() const noexcept;  // of features; 0: there are none

  // Computes a micro-batch on lane `lane`. `pixels`: NHWC, of as many images as it has.
  Outputs compute(int lane, std::span<std::uint8_t> pixels);

 private:
  struct Lane;
  const Net& net_;
  std::unique_ptr<train::WeightStore> weights_;
  std::vector<std::unique_ptr<train::Program>> programs_;
  std::vector<std::unique_ptr<Lane>> lanes_;
};

}  // namespace winnow::app
