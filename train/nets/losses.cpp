#include "train/nets/losses.h"

#include <array>
#include <cmath>
#include <numbers>

#include "common/row_called.h"
#include "train/ops/barlow_twins.h"
#include "train/ops/sigmoid_cross_entropy.h"
#include "train/ops/softmax_cross_entropy.h"

namespace winnow::train {
namespace {

LossNode cross_entropy(const LossOptions& options) {
  return {&kSoftmaxCrossEntropy, LossAttributes{options.label_smoothing}};
}
double entropy_of_guessing(const LossOptions&, int classes) {
  return std::log(static_cast<double>(classes));
}

LossNode bce(const LossOptions& options) {
  SigmoidLossAttributes attributes{{options.label_smoothing}};
  attributes.mean = true;
  return {&kSigmoidCrossEntropy, attributes};
}
double bce_of_guessing(const LossOptions&, int) { return std::numbers::ln2; }

LossNode focal(const LossOptions& options) {
  return {&kSigmoidCrossEntropy,
          SigmoidLossAttributes{
              {options.label_smoothing}, options.focal_gamma, options.focal_alpha, false}};
}
double focal_of_guessing(const LossOptions& options, int classes) {
  const double alpha = options.focal_alpha;
  const double others = classes - 1;
  const double terms = alpha < 0 ? classes : alpha + others * (1 - alpha);
  return terms * std::numbers::ln2 * std::pow(0.5, options.focal_gamma);
}

LossNode barlow_twins(const LossOptions& options) {
  return {&kBarlowTwins, BarlowTwinsAttributes{options.redundancy}};
}
// The loss of features that are independent of each other.
double twins_of_guessing(const LossOptions&, int) { return 1; }

constexpr auto kLosses = std::to_array<LossRow>({
    {"cross_entropy", "softmax cross entropy", cross_entropy, entropy_of_guessing, false},
    {"bce", "sigmoid binary cross entropy per class, averaged over the classes as in timm", bce,
     bce_of_guessing, true},
    {kFocalLoss, "sigmoid focal loss per class, summed over the classes as in torchvision", focal,
     focal_of_guessing, true},
    {kTwinsLoss, "Barlow Twins: makes two views of each image agree; needs no labels", barlow_twins,
     twins_of_guessing, false, 2},
});

}  // namespace

std::span<const LossRow> losses() { return kLosses; }

const LossRow& find_loss(std::string_view name) {
  return row_called("unknown loss", name, kLosses);
}

}  // namespace winnow::train
