#pragma once

#include <array>
#include <cmath>
#include <string_view>

#include "train/optim/rmsprop_step.h"

namespace winnow::train {

// RMSProp as TensorFlow's tf.train.RMSPropOptimizer, with which EfficientNet and MobileNet were
// trained. For a weight w with gradient g, learning rate lr, weight decay wd, momentum mu and mean
// of squares s:
//   g = g + wd w;  s = alpha s + (1 - alpha) g^2
//   v = mu v + lr g / sqrt(s + eps);  w -= v.
//
// Unlike in PyTorch's, s starts at 1, eps is inside the root, and v includes the learning rate.
struct RmsPropTf : RmsPropStep {
  static constexpr std::string_view kName = "rmsprop_tf";
  static constexpr std::string_view kWhat = "RMSProp as TensorFlow's, for EfficientNet";
  static constexpr std::array kOptions{alpha_option(0.9), eps_option(1e-3), kMomentumOption,
                                       weight_decay_option(1e-5)};

  static RmsPropTf from(const ChosenOptions& chosen) { return {chosen_step(chosen)}; }

  struct Factors : RmsPropStep::Factors {
    float begin;  // alpha in the first step, because the mean of squares starts at 1; else 0
  };
  WINNOW_DEVICE_FN Factors factors(const TensorStep& step) const {
    return {RmsPropStep::factors(step), static_cast<float>(step.step == 0 ? alpha : 0.0)};
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
