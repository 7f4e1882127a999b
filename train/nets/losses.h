#pragma once

#include <span>
#include <string>
#include <string_view>

#include "train/graph/graph.h"

namespace winnow::train {

// Choice and settings of the loss. Labels, if it reads any, are a distribution over classes.
struct LossOptions {
  std::string name = "cross_entropy";
  double label_smoothing = 0;  // in [0, 1)
  double focal_gamma = 2;      // in [0, kMostFocalGamma]
  double focal_alpha = 0.25;   // in [-1, 1]; negative: no weights
  double redundancy = 0.005;   // in (0, kMostRedundancy]
  int projection = 512;        // features by which two views are compared, at most kMostProjection
  bool allow_unlabelled = false;  // sigmoid losses: an image without a label belongs to no class
};
inline constexpr double kMostFocalGamma = 100;
inline constexpr double kLeastRedundancy = 1e-6;
inline constexpr double kMostRedundancy = 1;
inline constexpr int kMostProjection = 1 << 14;
inline constexpr std::string_view kFocalLoss = "focal";  // the only one with gamma and alpha
// The only loss with a redundancy and a projection.
inline constexpr std::string_view kTwinsLoss = "barlow_twins";

// The node of a loss. It reads logits, targets and weights; without labels, projections
// (train/nets/projector.h) and weights.
struct LossNode {
  const Operation* operation;
  Attributes attributes;
};

// A row of the table of losses.
struct LossRow {
  std::string_view name;
  std::string_view what;
  LossNode (*make)(const LossOptions& options);
  // the loss if all classes are equally probable
  double (*guessing)(const LossOptions& options, int classes);
  bool sigmoid;  // a class's probability is the sigmoid of its logit; else the softmax over all
  // Views of each image, adjacent in a micro-batch. If there are several, the loss compares them
  // with each other and ignores labels.
  int views = 1;
  bool reads_labels() const { return views == 1; }
};
std::span<const LossRow> losses();
const LossRow& find_loss(std::string_view name);  // UsageError naming the known ones

}  // namespace winnow::train
