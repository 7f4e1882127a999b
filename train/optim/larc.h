#pragma once

#include "train/optim/lars_step.h"
#include "train/optim/shared_options.h"

namespace winnow::train {

// LARC, clipped LARS: no tensor gets a larger learning rate than the step's. As NVIDIA Apex's LARC
// over PyTorch's SGD, except for its eps. For a weight tensor w with gradient g, trust coefficient
// eta, weight decay wd and momentum mu:
//
//   local = min(1, eta |w| / (|g| + wd |w|) / lr)     (1 if |w| or |g| is 0)
//   v     = mu v + local (g + wd w);  w -= lr v.
//
// The learning rate lr is outside the momentum buffer v. Biases and batch norm use local = 1 and wd
// = 0.
struct Larc : LarsStep {
  double momentum;
  double weight_decay;
  double eta;

  static constexpr std::string_view kName = "larc";
  static constexpr std::string_view kWhat =
      "LARS with layer rates limited to the learning rate (NVIDIA Apex)";
  static constexpr std::array kOptions{kMomentumOption, weight_decay_option(1e-4),
                                       lars_eta_option(0.02)};

  static Larc from(const ChosenOptions& chosen) {
    return {
        {}, chosen.number("momentum"), chosen.number("weight_decay"), chosen.number("lars_eta")};
  }
  static bool needs_norms(bool decay) { return decay; }

  WINNOW_DEVICE_FN Factors factors(const TensorStep& step) const {
    const bool scaled = step.decay && step.value_norm > 0 && step.gradient_norm > 0;
    const double rate = scaled ? trust(step, eta, weight_decay) : step.lr;
    return factors_of(step.lr, rate < step.lr ? rate / step.lr : 1, /*corrected=*/true, momentum,
                      step.decay ? weight_decay : 0.0);
  }
};

}  // namespace winnow::train
