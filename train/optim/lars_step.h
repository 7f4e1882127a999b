#pragma once

#include <array>
#include <string_view>

#include "train/optim/rule.h"

namespace winnow::train {

// The update of an element that LARS and its variants share, given the factors of its tensor:
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
  // The rate of a tensor: eta |w| / (|g| + wd |w|); 1 if |w| or |g| is 0.
  WINNOW_DEVICE_FN static double trust(const TensorStep& step, double eta, double weight_decay) {
    const double w = step.value_norm;
    const double g = step.gradient_norm;
    return w > 0 && g > 0 ? eta * w / (g + weight_decay * w) : 1;
  }

  // LARS's v contains the step's learning rate: v = mu v + lr local (g + wd w); w -= v.
  // With `corrected`, v must be rescaled by lr / (lr of the previous step). Equivalently, v does
  // not contain the rate: v = mu v + local (g + wd w); w -= lr v.
  WINNOW_DEVICE_FN static Factors factors_of(double lr, double local, bool corrected,
                                             double momentum, double decay) {
    return {static_cast<float>(corrected ? local : lr * local),
            static_cast<float>(corrected ? lr : 1.0), static_cast<float>(momentum),
            static_cast<float>(decay)};
  }
};

}  // namespace winnow::train
