#pragma once

#include <span>
#include <string>
#include <string_view>

#include "train/graph/graph.h"

namespace winnow::train {

// Choice and settings of the loss. If it reads labels, the target of a sample is a distribution
// over classes.
struct LossOptions {
  std::string name = "cross_entropy";
  double label_smoothing = 0;  // in [0, 1)
  double focal_gamma = 2;      // in [0, kMostFocalGamma]
  // Focal loss: weight of positive targets, in [-1, 1]; negative: no weights.
  double focal_alpha = 0.25;
  // Barlow Twins: weight of off-diagonal correlations, in (0, kMostRedundancy].
  double redundancy = 0.005;
  // Barlow Twins: number of features by which two views are compared; at most kMostProjection.
  int projection = 512;
  // For sigmoid losses: an image without a label belongs to no class; false: it is an error.
  bool allow_unlabelled = false;
};
inline constexpr double kMostFocalGamma = 100;
inline constexpr double kLeastRedundancy = 1e-6;
inline constexpr double kMostRedundancy = 1;
inline constexpr int kMostProjection = 1 << 14;
// Name of the only loss that uses focal_gamma and focal_alpha.
inline constexpr std::string_view kFocalLoss = "focal";
// Name of the only loss that uses LossOptions::redundancy and LossOptions::projection.
inline constexpr std::string_view kTwinsLoss = "barlow_twins";

// Operation and attributes of a loss node. The node reads logits, targets and sample weights; or,
// without labels, projections (train/nets/projector.h) and sample weights.
struct LossNode {
  const Operation* operation;
  Attributes attributes;
};

// One loss: a row of losses().
struct LossRow {
  std::string_view name;
  std::string_view what;
  LossNode (*make)(const LossOptions& options);
  // Value of the loss if all classes are predicted with equal probability.
  double (*guessing)(const LossOptions& options, int classes);
  // How probabilities follow from logits. True: a class's is the sigmoid of its logit; false: the
  // softmax over all logits.
  bool sigmoid;
  // Number of augmented views of each image, adjacent in a micro-batch. If it is above 1, the loss
  // compares the views with each other and ignores labels.
  int views = 1;
  bool reads_labels() const { return views == 1; }
};
std::span<const LossRow> losses();
const LossRow& find_loss(std::string_view name);  // throws UsageError, which names the known losses

}  // namespace winnow::train
