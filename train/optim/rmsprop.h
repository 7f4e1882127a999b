#pragma once

#include <array>
#include <cmath>
#include <string_view>

#include "train/optim/rmsprop_step.h"

namespace winnow::train {

// RMSProp (Hinton 2012), as torch.optim.RMSprop, not centred. For a weight w with gradient g,
// learning rate lr, weight decay wd, momentum mu and mean of squares s:
//   g = g + wd w;  s = alpha s + (1 - alpha) g^2
//   v = mu v + g / (sqrt(s) + eps);  w -= lr v
struct RmsProp : RmsPropStep {
  static constexpr std::string_view kName = "rmsprop";
  static constexpr std::string_view kWhat = "RMSProp as PyTorch's (Hinton 2012)";
  static constexpr std::array kOptions{alpha_option(0.99), eps_option(1e-8), kMomentumOption,
                                       weight_decay_option(1e-5)};

  static RmsProp from(const ChosenOptions& chosen) { return {chosen_step(chosen)}; }

  WINNOW_DEVICE_FN static void update(const Factors& f, float gradient, float& value,
                                      float* state) {
    const float g = gradient + f.decay * value;
    state[0] = f.alpha * state[0] + f.rest * g * g;
    state[1] = f.momentum * state[1] + g / (std::sqrt(state[0]) + f.eps);
    value -= f.lr * state[1];
  }
};

}  // namespace winnow::train
