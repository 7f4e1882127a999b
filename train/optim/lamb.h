#pragma once

#include <array>
#include <cmath>
#include <string_view>

#include "train/optim/rule.h"
#include "train/optim/shared_options.h"

namespace winnow::train {

// LAMB (You et al. 2019, arXiv:1904.00962, Algorithm 2), with phi(z) = z. In step t = 1, 2, ...,
// for a weight tensor w with gradient g, learning rate lr, weight decay wd, and moments m and v:
//
//   m = m + (1 - beta1) (g - m);  v = beta2 v + (1 - beta2) g^2;
//   u = m / (1 - beta1^t) / (sqrt(v) / sqrt(1 - beta2^t) + eps) + wd w;
//   w = w - lr |w| / |u| u        (|w| / |u| is 1 if either is 0)
//
// Biases and batch norm use |w| / |u| = 1 and wd = 0.
struct Lamb {
  double beta1;
  double beta2;
  double eps;
  double weight_decay;

  static constexpr std::string_view kName = "lamb";
  static constexpr std::string_view kWhat =
      "Adam with layer-wise rates, default weight decay 0.01 (You et al. 2019)";
  static constexpr std::array kOptions{beta1_option(0.9), beta2_option(0.999), eps_option(1e-6),
                                       weight_decay_option(0.01)};
  static constexpr std::array<std::string_view, 2> kSlots{"exp_avg", "exp_avg_sq"};

  static Lamb from(const ChosenOptions& chosen) {
    return {chosen.number("beta1"), chosen.number("beta2"), chosen.number("eps"),
            chosen.number("weight_decay")};
  }
  static bool needs_norms(bool decay) { return decay; }

  struct Factors {
    float lr, decay;
    float weight1;             // 1 - beta1
    float beta2, weight2;      // weight2 = 1 - beta2
    float correction1, root2;  // 1 / (1 - beta1^t) and sqrt(1 - beta2^t) in step t = 1, 2, ...
    float eps;
  };
  WINNOW_DEVICE_FN Factors factors(const TensorStep& step) const {
    const double w = step.value_norm;
    const double u = step.direction_norm;
    const double ratio = step.decay && w > 0 && u > 0 ? w / u : 1;
    return {static_cast<float>(step.lr * ratio),
            static_cast<float>(step.decay ? weight_decay : 0.0),
            static_cast<float>(1 - beta1),
            static_cast<float>(beta2),
            static_cast<float>(1 - beta2),
            static_cast<float>(1 / (1 - whole_power(beta1, step.step + 1))),
            static_cast<float>(std::sqrt(1 - whole_power(beta2, step.step + 1))),
            static_cast<float>(eps)};
  }
  WINNOW_DEVICE_FN static void accumulate(const Factors& f, float gradient, float* state) {
    state[0] += f.weight1 * (gradient - state[0]);
    state[1] = f.beta2 * state[1] + f.weight2 * gradient * gradient;
  }
  WINNOW_DEVICE_FN static float direction(const Factors& f, float value, const float* state) {
    return state[0] * f.correction1 / (std::sqrt(state[1]) / f.root2 + f.eps) + f.decay * value;
  }
  WINNOW_DEVICE_FN static void update(const Factors& f, float /*gradient*/, float& value,
                                      float* state) {
    value -= f.lr * direction(f, value, state);
  }
};

}  // namespace winnow::train
