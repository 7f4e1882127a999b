#pragma once

#include "train/optim/lars_step.h"
#include "train/optim/shared_options.h"

namespace winnow::train {

// LARS as its authors ran it (NVCaffe). Unlike Lars, it also scales the learning rates of biases
// and batch norm. Their scale is computed with weight decay, but their update has none.
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
