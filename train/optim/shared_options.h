#pragma once

#include "train/optim/options.h"

namespace winnow::train {

// Options that several optimisers share. Their default is an argument if it differs between
// optimisers.
inline constexpr Option kMomentumOption{"momentum", "Momentum", OptionKind::kNumber, 0.9,
                                        Range{.most = 1, .below_most = true}};
constexpr Option weight_decay_option(double initial) {
  return {"weight_decay", "Weight decay; never on biases and batch norm", OptionKind::kNumber,
          initial};
}

// Allowed decays of means over steps: at least 0 and below 1.
inline constexpr Range kMeanDecays{.most = 1, .below_most = true};
constexpr Option beta1_option(double initial) {
  return {"beta1",
          "Beta1: decay of the mean of gradients (adamw, lamb); weight of the momentum in a step "
          "(lion)",
          OptionKind::kNumber, initial, kMeanDecays};
}
constexpr Option beta2_option(double initial) {
  return {
      "beta2",
      "Beta2: decay of the mean of squared gradients (adamw, lamb); decay of the momentum (lion)",
      OptionKind::kNumber, initial, kMeanDecays};
}
constexpr Option alpha_option(double initial) {
  return {"alpha", "Decay of the mean of squared gradients (rmsprop, rmsprop_tf)",
          OptionKind::kNumber, initial, kMeanDecays};
}
constexpr Option eps_option(double initial) {
  return {"eps",
          "Epsilon, added to the root of the mean of squares (adamw, lamb, rmsprop) or under the "
          "root (rmsprop_tf)",
          OptionKind::kNumber, initial, Range{.above_least = true}};
}

// The trust coefficient eta, an option of LARS and its variants.
constexpr Option lars_eta_option(double initial) {
  return {"lars_eta", "LARS trust coefficient", OptionKind::kNumber, initial,
          Range{.above_least = true}};
}
inline constexpr Option kMomentumCorrectionOption{
    .key = "momentum_correction",
    .what =
        "Rescale the momentum when the learning rate changes (lars, lars_paper; Goyal et al. 2017, "
        "NVIDIA's LARSv2)",
    .kind = OptionKind::kSwitch,
    .later = true};

}  // namespace winnow::train
