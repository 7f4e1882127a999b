#pragma once

#include <cmath>
#include <cstdint>

#include "train/tensor/tensor.h"

namespace winnow::train {

// Loss scaling for f16. Gradients are computed from the loss times a factor, so that small ones do
// not vanish, and divided by it when they leave the net. Except for repeated steps, rules and
// constants are those of torch.amp.GradScaler.
//
// Exact     The factor is a power of two.
// Overflow  If a gradient is not finite although the loss is, the factor is halved, and the step is
//           computed again.
// Growth    After kLossScaleInterval steps in a row without overflow, the factor is doubled.
// Source    Micikevicius et al. 2018.
struct LossScale {
  double factor = 1;
  bool adapts = false;
  std::int64_t clean_steps = 0;  // in a row, since the factor last changed

  friend bool operator==(const LossScale&, const LossScale&) = default;
};

inline constexpr double kFirstLossScale = 0x1p16;
inline constexpr double kLeastLossScale = 0x1p-14;  // the smallest normal number of f16
inline constexpr double kMostLossScale = 0x1p24;    // makes the smallest number of f16 equal to 1
inline constexpr std::int64_t kLossScaleInterval = 2000;

// Whether it is a power of two in this range.
inline bool is_loss_scale(double factor) noexcept {
  int exponent = 0;
  return factor >= kLeastLossScale && factor <= kMostLossScale &&
         std::frexp(factor, &exponent) == 0.5;
}

// The scale at the start of a run. `fixed`: a constant factor; 0: adaptive in f16, otherwise 1.
LossScale first_loss_scale(DType compute, double fixed) noexcept;

// Call after an overflow. Returns false, without a change, if the factor is fixed or at its
// minimum.
bool lower(LossScale& scale) noexcept;

// Call after a step without overflow.
void count_clean_step(LossScale& scale) noexcept;

}  // namespace winnow::train
