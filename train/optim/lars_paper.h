#pragma once

#include "train/optim/lars_step.h"
#include "train/optim/shared_options.h"

namespace winnow::train {

// LARS as its authors ran it (NVCaffe): as Lars, but every tensor takes its own rate, biases and
// batch norm too. These have no weight decay in the step; the rate has it nonetheless.
struct LarsPaper : LarsStep {
  double momentum;
  double weight_decay;
  double eta;

  static constexpr std::string_view kName = "lars_paper";
  static constexpr std::string_view kWhat = "LARS that scales biases and batch norm too (NVCaffe)";
  static constexpr std::array kOptions{kMomentumOption, weight_decay_option(1e-4),
                                       lars_eta_option(1e-3)};

  static LarsPaper from(const ChosenOptions& chosen) {
    return {
        {}, chosen.number("momentum"), chosen.number("weight_decay"), chosen.number("lars_eta")};
  }
  static bool needs_norms(bool) { return true; }

  WINNOW_DEVICE_FN Factors factors(const TensorStep& step) const {
    return {static_cast<float>(step.lr * trust(step, eta, weight_decay)), 1.0F,
            static_cast<float>(momentum), static_cast<float>(step.decay ? weight_decay : 0.0)};
  }
};

}  // namespace winnow::train
