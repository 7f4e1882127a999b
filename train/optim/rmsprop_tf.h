#pragma once

#include <array>
#include <cmath>
#include <string_view>

#include "train/optim/rule.h"
#include "train/optim/shared_options.h"

namespace winnow::train {

// RMSProp as TensorFlow's tf.train.RMSPropOptimizer, which EfficientNet and MobileNet were trained
// with. It differs from PyTorch's: s begins at 1, eps stands under the root, the rate inside v.
//   g = g + wd w;  s = alpha s + (1 - alpha) g^2
//   v = mu v + lr g / sqrt(s + eps);  w -= v
struct RmsPropTf {
  double alpha;
  double eps;
  double momentum;
  double weight_decay;

  static constexpr std::string_view kName = "rmsprop_tf";
  static constexpr std::string_view kWhat = "RMSProp as TensorFlow's, for EfficientNet";
  static constexpr std::array kOptions{alpha_option(0.9), eps_option(1e-3), kMomentumOption,
                                       weight_decay_option(1e-5)};
  static constexpr std::array<std::string_view, 2> kSlots{"square_avg", "momentum"};

  static RmsPropTf from(const ChosenOptions& chosen) {
    return {chosen.number("alpha"), chosen.number("eps"), chosen.number("momentum"),
            chosen.number("weight_decay")};
  }
  static bool needs_norms(bool) { return false; }

  struct Factors {
    float lr, momentum, decay;
    float alpha, rest;  // rest = 1 - alpha
    float begin;        // alpha in the first step, for s = 1 before it; else 0
    float eps;
  };
  WINNOW_DEVICE_FN Factors factors(const TensorStep& step) const {
    return {static_cast<float>(step.lr),
            static_cast<float>(momentum),
            static_cast<float>(step.decay ? weight_decay : 0.0),
            static_cast<float>(alpha),
            static_cast<float>(1 - alpha),
            static_cast<float>(step.step == 0 ? alpha : 0.0),
            static_cast<float>(eps)};
  }
  WINNOW_DEVICE_FN static void update(const Factors& f, float gradient, float& value,
                                      float* state) {
    const float g = gradient + f.decay * value;
    state[0] = f.alpha * state[0] + f.begin + f.rest * g * g;
    state[1] = f.momentum * state[1] + f.lr * g / std::sqrt(state[0] + f.eps);
    value -= state[1];
  }
};

}  // namespace winnow::train
