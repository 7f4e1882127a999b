#pragma once

#include <array>
#include <string_view>

#include "train/optim/rule.h"
#include "train/optim/shared_options.h"

namespace winnow::train {

// Shared by both forms of RMSProp: options and state. The state is the mean of squared gradients s
// = alpha s + (1 - alpha) g^2, and a momentum buffer.
struct RmsPropStep {
  double alpha;
  double eps;
  double momentum;
  double weight_decay;

  static constexpr std::array<std::string_view, 2> kSlots{"square_avg", "momentum"};

  static bool needs_norms(bool) { return false; }

  struct Factors {
    float lr, momentum, decay;
    float alpha, rest;  // rest = 1 - alpha
    float eps;
  };
  WINNOW_DEVICE_FN Factors factors(const TensorStep& step) const {
    return {static_cast<float>(step.lr),
            static_cast<float>(momentum),
            static_cast<float>(step.decay ? weight_decay : 0.0),
            static_cast<float>(alpha),
            static_cast<float>(1 - alpha),
            static_cast<float>(eps)};
  }

 protected:
  static RmsPropStep chosen_step(const ChosenOptions& chosen) {
    return {chosen.number("alpha"), chosen.number("eps"), chosen.number("momentum"),
            chosen.number("weight_decay")};
  }
};

}  // namespace winnow::train
