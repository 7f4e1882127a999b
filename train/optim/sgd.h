#pragma once

#include <array>
#include <string_view>

#include "train/optim/rule.h"
#include "train/optim/shared_options.h"

namespace winnow::train {

// SGD, as PyTorch's, for a weight w with gradient g, learning rate lr, weight decay wd and momentum
// mu:
//   v = mu v + g + wd w;  w -= lr (g + wd w + mu v) with Nesterov, otherwise w -= lr v.
struct Sgd {
  double momentum;
  double weight_decay;
  bool nesterov;

  static constexpr std::string_view kName = "sgd";
  static constexpr std::string_view kWhat = "stochastic gradient descent with (Nesterov) momentum";
  static constexpr std::array kOptions{
      kMomentumOption, Option{"nesterov", "Nesterov momentum (sgd)", OptionKind::kSwitch, 1},
      weight_decay_option(1e-4)};
  static constexpr std::array<std::string_view, 1> kSlots{"momentum"};

  static Sgd from(const ChosenOptions& chosen) {
    return {chosen.number("momentum"), chosen.number("weight_decay"), chosen.is_on("nesterov")};
  }
  static bool needs_norms(bool) { return false; }

  struct Factors {
    float lr, momentum, decay;
    bool nesterov;
  };
  WINNOW_DEVICE_FN Factors factors(const TensorStep& step) const {
    return {static_cast<float>(step.lr), static_cast<float>(momentum),
            static_cast<float>(step.decay ? weight_decay : 0.0), nesterov};
  }
  WINNOW_DEVICE_FN static void update(const Factors& f, float gradient, float& value,
                                      float* state) {
    const float g = gradient + f.decay * value;
    const float v = f.momentum * state[0] + g;
    state[0] = v;
    value -= f.lr * (f.nesterov ? g + f.momentum * v : v);
  }
};

}  // namespace winnow::train
