#pragma once

#include <span>
#include <string>
#include <string_view>

#include "train/graph/graph.h"

namespace winnow::train {

// What a net learns from. Labels, if it has any, are a distribution over classes.
struct LossOptions {
  std::string name = "cross_entropy";
  double label_smoothing = 0;     // in [0, 1)
  double focal_gamma = 2;         // in [0, kMostFocalGamma]
  double focal_alpha = 0.25;      // in [-1, 1]; below 0: none
  double redundancy = 0.005;      // above 0, up to kMostRedundancy
  int projection = 512;           // numbers that two views are compared by, up to kMostProjection
  bool allow_unlabelled = false;  // sigmoid losses: an image without a label is of no class
};
inline constexpr double kMostFocalGamma = 100;
inline constexpr double kLeastRedundancy = 1e-6;
inline constexpr double kMostRedundancy = 1;
inline constexpr int kMostProjection = 1 << 14;
inline constexpr std::string_view kFocalLoss = "focal";  // alone has a gamma and an alpha
// Alone has a redundancy and a projection.
inline constexpr std::string_view kTwinsLoss = "barlow_twins";

// The node of a loss, which reads logits, targets and weights. Of a loss without labels it reads
// projections (train/nets/projector.h) and weights.
struct LossNode {
  const Operation* operation;
  Attributes attributes;
};

// A row of the table of losses.
struct LossRow {
  std::string_view name;
  std::string_view what;
  LossNode (*make)(const LossOptions& options);
  double (*guessing)(const LossOptions& options, int classes);  // the loss of equal chances
  bool sigmoid;  // a class's probability is the sigmoid of its logit alone; else the softmax of all
  // Of each image, one behind the other in a micro-batch. Several: they are compared with each
  // other, and labels are not looked at.
  int views = 1;
  bool reads_labels() const { return views == 1; }
};
std::span<const LossRow> losses();
const LossRow& find_loss(std::string_view name);  // UsageError naming the known ones

}  // namespace winnow::train
