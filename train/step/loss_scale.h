#pragma once

#include <cmath>
#include <cstdint>

#include "train/tensor/tensor.h"

namespace winnow::train {

// Loss scaling for f16. The loss is multiplied by a factor, so that small gradients do not vanish;
// parameter gradients are divided by it afterwards. Except for repeated steps, rules and constants
// are those of torch.amp.GradScaler.
//
// Exact     The factor is a power of two.
// Overflow  If a gradient is not finite although the loss is, the factor is halved, and the step is
//           computed again.
// Growth    After kLossScaleInterval steps in a row without overflow, the factor is doubled.
// Source    Micikevicius et al. 2018.
struct LossScale {
  double factor = 1;
  bool adapts = false;
  // Number of steps in a row without overflow since the factor last changed.
  std::int64_t clean_steps = 0;

  friend bool operator==(const LossScale&, const LossScale&) = default;
};

inline constexpr double kFirstLossScale = 0x1p16;
// Smallest factor: the smallest normal number of f16.
inline constexpr double kLeastLossScale = 0x1p-14;
// Largest factor: it makes the smallest number of f16 equal to 1.
inline constexpr double kMostLossScale = 0x1p24;
inline constexpr std::int64_t kLossScaleInterval = 2000;

// Whether a factor is a power of two from kLeastLossScale to kMostLossScale.
inline bool is_loss_scale(double factor) noexcept {
  int exponent = 0;
  return factor >= kLeastLossScale && factor <= kMostLossScale &&
         std::frexp(factor, &exponent) == 0.5;
}

// Returns the loss scale at the start of a run. `fixed`: a constant factor; 0: adaptive in f16,
// otherwise 1.
LossScale first_loss_scale(DType compute, double fixed) noexcept;

// Halves the factor after an overflow. Returns false, without a change, if the factor is fixed or
// at its minimum.
bool lower(LossScale& scale) noexcept;

// Counts a step without overflow. Doubles the factor if that is due.
void count_clean_step(LossScale& scale) noexcept;

}  // namespace winnow::train
