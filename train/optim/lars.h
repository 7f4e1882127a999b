#pragma once

#include "train/optim/lars_step.h"
#include "train/optim/shared_options.h"

namespace winnow::train {

// LARS, layer-wise adaptive rate scaling (You, Gitman and Ginsburg 2017, arXiv:1708.03888,
// Algorithm 1). For a weight tensor w with gradient g, trust coefficient eta, weight decay wd,
// momentum mu and learning rate lr:
//
//   local = eta |w| / (|g| + wd |w|)     (1 if |w| or |g| is 0)
//   v     = mu v + lr local (g + wd w);  w -= v.
//
// Biases and batch norm use local = 1 and wd = 0, as in MLPerf's reference (its skip list).
struct Lars : LarsStep {
  double momentum;
  double weight_decay;
  double eta;
  bool corrected;

  static constexpr std::string_view kName = "lars";
  static constexpr std::string_view kWhat =
      "layer-wise adaptive rates for large batches, as in MLPerf (You et al. 2017)";
  static constexpr std::array kOptions{kMomentumOption, weight_decay_option(1e-4),
                                       lars_eta_option(1e-3), kMomentumCorrectionOption};

  static Lars from(const ChosenOptions& chosen) {
    return {{},
            chosen.number("momentum"),
            chosen.number("weight_decay"),
            chosen.number("lars_eta"),
            chosen.is_on("momentum_correction")};
  }
  static bool needs_norms(bool decay) { return decay; }

  WINNOW_DEVICE_FN Factors factors(const TensorStep& step) const {
    const double local = step.decay ? trust(step, eta, weight_decay) : 1;
    return factors_of(step.lr, local, corrected, momentum, step.decay ? weight_decay : 0.0);
  }
};

}  // namespace winnow::train
