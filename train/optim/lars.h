#pragma once

#include <array>
#include <string_view>

#include "train/optim/rule.h"
#include "train/optim/shared_options.h"

namespace winnow::train {

// Layer-wise Adaptive Rate Scaling, You, Gitman and Ginsburg 2017, arXiv:1708.03888, Algorithm 1:
//   local = eta |w| / (|g| + wd |w|)     (1 when |w| or |g| is 0)
//   v     = mu v + lr local (g + wd w);  w -= v
// Parameters without decay take local = 1 and wd = 0.
struct Lars {
  double momentum;
  double weight_decay;
  double eta;

  static constexpr std::string_view kName = "lars";
  static constexpr std::string_view kWhat =
      "layer-wise adaptive rates for large batches (You et al. 2017)";
  static constexpr std::array kOptions{
      kMomentumOption, weight_decay_option(1e-4),
      Option{"lars_eta", "LARS trust coefficient", OptionKind::kNumber, 1e-3,
             Range{.above_least = true}}};
  static constexpr std::array<std::string_view, 1> kSlots{"momentum"};

  static Lars from(const ChosenOptions& chosen) {
    return {chosen.number("momentum"), chosen.number("weight_decay"), chosen.number("lars_eta")};
  }
  static bool needs_norms(bool decay) { return decay; }

  struct Factors {
    float lr, momentum, decay;
  };
  WINNOW_DEVICE_FN Factors factors(const TensorStep& step) const {
    const double w = step.value_norm;
    const double g = step.gradient_norm;
    const bool scaled = step.decay && w > 0 && g > 0;
    const double local = scaled ? eta * w / (g + weight_decay * w) : 1;
    return {static_cast<float>(step.lr * local), static_cast<float>(momentum),
            static_cast<float>(step.decay ? weight_decay : 0.0)};
  }
  WINNOW_DEVICE_FN static void update(const Factors& f, float gradient, float& value,
                                      float* state) {
    state[0] = f.momentum * state[0] + f.lr * (gradient + f.decay * value);
    value -= state[0];
  }
};

}  // namespace winnow::train
