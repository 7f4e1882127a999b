#pragma once

#include "train/optim/options.h"

namespace winnow::train {

// Options that several optimisers share. Defaults that differ between them are arguments.
inline constexpr Option kMomentumOption{"momentum", "Momentum", OptionKind::kNumber, 0.9,
                                        Range{.most = 1, .below_most = true}};
constexpr Option weight_decay_option(double initial) {
  return {"weight_decay", "Weight decay; never on biases and batch norm", OptionKind::kNumber,
          initial};
}

// For decays of means over steps.
inline constexpr Range kMeanDecays{.most = 1, .below_most = true};
constexpr Option beta1_option(double initial) {
  return {"beta1", "Decay of the mean of gradients (adamw, lamb); its share in a step (lion)",
          OptionKind::kNumber, initial, kMeanDecays};
}
constexpr Option beta2_option(double initial) {
  return {"beta2", "Decay of the mean of squared gradients (adamw, lamb); of gradients (lion)",
          OptionKind::kNumber, initial, kMeanDecays};
}
constexpr Option alpha_option(double initial) {
  return {"alpha", "Decay of the mean of squared gradients (rmsprop, rmsprop_tf)",
          OptionKind::kNumber, initial, kMeanDecays};
}
constexpr Option eps_option(double initial) {
  return {"eps",
          "Added to the root of the mean of squares (adamw, lamb, rmsprop); under the root "
          "(rmsprop_tf)",
          OptionKind::kNumber, initial, Range{.above_least = true}};
}

// For LARS and its variants.
constexpr Option lars_eta_option(double initial) {
  return {"lars_eta", "LARS trust coefficient", OptionKind::kNumber, initial,
          Range{.above_least = true}};
}
inline constexpr Option kMomentumCorrectionOption{
    .key = "momentum_correction",
    .what =
        "Rescale the momentum where the learning rate changes, as Goyal et al. 2017 and NVIDIA's "
        "LARSv2 (lars, lars_paper; the others' momentum has no learning rate in it)",
    .kind = OptionKind::kSwitch,
    .later = true};

}  // namespace winnow::train
