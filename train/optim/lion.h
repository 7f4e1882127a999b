#pragma once

#include <array>
#include <string_view>

#include "train/optim/rule.h"
#include "train/optim/shared_options.h"

namespace winnow::train {

// Lion (Chen et al. 2023, arXiv:2302.06675, Algorithm 2). For a weight w with gradient g, learning
// rate lr, weight decay wd and momentum m:
//
//   c = beta1 m + (1 - beta1) g;  m = beta2 m + (1 - beta2) g
//   w = w (1 - lr wd) - lr sign(c)     (no decay for biases and batch norm; sign(0) = 0)
//
// Its steps have equal sizes. So use a learning rate three to ten times smaller than for AdamW, and
// a weight decay larger by the same factor.
struct Lion {
  double beta1;
  double beta2;
  double weight_decay;

  static constexpr std::string_view kName = "lion";
  static constexpr std::string_view kWhat =
      "sign of the momentum, default weight decay 0 (Chen et al. 2023)";
  static constexpr std::array kOptions{beta1_option(0.9), beta2_option(0.99),
                                       weight_decay_option(0)};
  static constexpr std::array<std::string_view, 1> kSlots{"exp_avg"};

  static Lion from(const ChosenOptions& chosen) {
    return {chosen.number("beta1"), chosen.number("beta2"), chosen.number("weight_decay")};
  }
  static bool needs_norms(bool) { return false; }

  struct Factors {
    float keep;  // 1 - lr wd
    float lr;
    float beta1, weight1;  // weight1 = 1 - beta1
    float beta2, weight2;
  };
  WINNOW_DEVICE_FN Factors factors(const TensorStep& step) const {
    return {static_cast<float>(step.decay ? 1 - step.lr * weight_decay : 1.0),
            static_cast<float>(step.lr),
            static_cast<float>(beta1),
            static_cast<float>(1 - beta1),
            static_cast<float>(beta2),
            static_cast<float>(1 - beta2)};
  }
  WINNOW_DEVICE_FN static void update(const Factors& f, float gradient, float& value,
                                      float* state) {
    const float direction = f.beta1 * state[0] + f.weight1 * gradient;
    const float sign = direction > 0 ? 1.0F : direction < 0 ? -1.0F : 0.0F;
    state[0] = f.beta2 * state[0] + f.weight2 * gradient;
    value = value * f.keep - f.lr * sign;
  }
};

}  // namespace winnow::train
