#pragma once

#include <array>
#include <string_view>

#include "train/optim/rule.h"

namespace winnow::train {

// What LARS and its variants do to an element once they know the factors of its tensor:
//   v = mu v + before (g + wd w);  w -= after v
struct LarsStep {
  static constexpr std::array<std::string_view, 1> kSlots{"momentum"};

  struct Factors {
    float before, after, momentum, decay;
  };
  WINNOW_DEVICE_FN static void update(const Factors& f, float gradient, float& value,
                                      float* state) {
    state[0] = f.momentum * state[0] + f.before * (gradient + f.decay * value);
    value -= f.after * state[0];
  }

 protected:
  // eta |w| / (|g| + wd |w|), the rate of a tensor; 1 where |w| or |g| is 0.
  WINNOW_DEVICE_FN static double trust(const TensorStep& step, double eta, double weight_decay) {
    const double w = step.value_norm;
    const double g = step.gradient_norm;
    return w > 0 && g > 0 ? eta * w / (g + weight_decay * w) : 1;
  }
};

}  // namespace winnow::train
