#pragma once

#include <array>
#include <cmath>
#include <string_view>

#include "train/optim/rule.h"
#include "train/optim/shared_options.h"

namespace winnow::train {

// AdamW, as torch.optim.AdamW (Loshchilov and Hutter 2019, arXiv:1711.05101). In step t = 1, 2,
// ..., for a weight w with gradient g, learning rate lr, weight decay wd, and moments m and v:
//
//   w = w (1 - lr wd)                                     (not for biases and batch norm)
//   m = m + (1 - beta1) (g - m);  v = beta2 v + (1 - beta2) g^2;
//   w = w - lr / (1 - beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) + eps)
struct AdamW {
  double beta1;
  double beta2;
  double eps;
  double weight_decay;

  static constexpr std::string_view kName = "adamw";
  static constexpr std::string_view kWhat =
      "Adam with decoupled weight decay, default 0.01 (Loshchilov and Hutter 2019)";
  static constexpr std::array kOptions{beta1_option(0.9), beta2_option(0.999), eps_option(1e-8),
                                       weight_decay_option(0.01)};
  static constexpr std::array<std::string_view, 2> kSlots{"exp_avg", "exp_avg_sq"};

  static AdamW from(const ChosenOptions& chosen) {
    return {chosen.number("beta1"), chosen.number("beta2"), chosen.number("eps"),
            chosen.number("weight_decay")};
  }
  static bool needs_norms(bool) { return false; }

  struct Factors {
    float keep;             // 1 - lr wd
    float weight1;          // 1 - beta1
    float beta2, weight2;   // weight2 = 1 - beta2
    float step_size, root;  // lr / (1 - beta1^t) and sqrt(1 - beta2^t) in step t = 1, 2, ...
    float eps;
  };
  WINNOW_DEVICE_FN Factors factors(const TensorStep& step) const {
    const double correction1 = 1 - whole_power(beta1, step.step + 1);
    const double correction2 = 1 - whole_power(beta2, step.step + 1);
    return {static_cast<float>(step.decay ? 1 - step.lr * weight_decay : 1.0),
            static_cast<float>(1 - beta1),
            static_cast<float>(beta2),
            static_cast<float>(1 - beta2),
            static_cast<float>(step.lr / correction1),
            static_cast<float>(std::sqrt(correction2)),
            static_cast<float>(eps)};
  }
  WINNOW_DEVICE_FN static void update(const Factors& f, float gradient, float& value,
                                      float* state) {
    value *= f.keep;
    state[0] += f.weight1 * (gradient - state[0]);
    state[1] = f.beta2 * state[1] + f.weight2 * gradient * gradient;
    value -= f.step_size * state[0] / (std::sqrt(state[1]) / f.root + f.eps);
  }
};

}  // namespace winnow::train
