#pragma once

#include "train/optim/lars_step.h"
#include "train/optim/shared_options.h"

namespace winnow::train {

// LARS as its authors ran it (NVCaffe): as Lars, but biases and batch norm are scaled, too. In the
// step they have no weight decay, but their rate is computed with it.
struct LarsPaper : LarsStep {
  double momentum;
  double weight_decay;
  double eta;
  bool corrected;

  static constexpr std::string_view kName = "lars_paper";
  static constexpr std::string_view kWhat = "LARS that scales biases and batch norm too (NVCaffe)";
  static constexpr std::array kOptions{kMomentumOption, weight_decay_option(1e-4),
                                       lars_eta_option(1e-3), kMomentumCorrectionOption};

  static LarsPaper from(const ChosenOptions& chosen) {
    return {{},
            chosen.number("momentum"),
            chosen.number("weight_decay"),
            chosen.number("lars_eta"),
            chosen.is_on("momentum_correction")};
  }
  static bool needs_norms(bool) { return true; }

  WINNOW_DEVICE_FN Factors factors(const TensorStep& step) const {
    const double local = trust(step, eta, weight_decay);
    return factors_of(step.lr, local, corrected, momentum, step.decay ? weight_decay : 0.0);
  }
};

}  // namespace winnow::train
