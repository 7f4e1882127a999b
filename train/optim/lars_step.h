#pragma once

#include <array>
#include <string_view>

#include "train/optim/rule.h"

namespace winnow::train {

// Updates one element, as LARS and its variants do, given the factors of its tensor. For a weight w
// with gradient g, momentum mu and weight decay wd:
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
  // Returns the layer-wise scale of a tensor's learning rate: eta |w| / (|g| + wd |w|); 1 if |w| or
  // |g| is 0.
  WINNOW_DEVICE_FN static double trust(const TensorStep& step, double eta, double weight_decay) {
    const double w = step.value_norm;
    const double g = step.gradient_norm;
    return w > 0 && g > 0 ? eta * w / (g + weight_decay * w) : 1;
  }

  // Returns the factors of a tensor. `local`: its layer-wise scale of the learning rate.
  // In LARS, the momentum buffer v contains the step's learning rate lr: v = mu v + lr local (g +
  // wd w); w -= v. With `corrected`, v is rescaled whenever lr changes. This equals keeping lr
  // outside of v: v = mu v + local (g + wd w); w -= lr v.
  WINNOW_DEVICE_FN static Factors factors_of(double lr, double local, bool corrected,
                                             double momentum, double decay) {
    return {static_cast<float>(corrected ? local : lr * local),
            static_cast<float>(corrected ? lr : 1.0), static_cast<float>(momentum),
            static_cast<float>(decay)};
  }
};

}  // namespace winnow::train
