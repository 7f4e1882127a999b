#pragma once

#include <cmath>
#include <cstdint>

#include "train/tensor/tensor.h"

namespace winnow::train {

// Loss scaling, for f16: the gradients of a step are computed of the loss times a factor, so that
// small ones do not vanish, and divided by it when they leave the net (Micikevicius et al. 2018).
// The rules, but for repeated steps, and the numbers are those of torch.amp.GradScaler.
//
// Exact      The factor is a power of two.
// Overflow   A gradient that is not finite where the loss is halves the factor, and the step is
//            computed again.
// Growth     kLossScaleInterval steps in a row without that double it.
struct LossScale {
  double factor = 1;
  bool adapts = false;
  std::int64_t clean_steps = 0;  // in a row since the factor last changed

  friend bool operator==(const LossScale&, const LossScale&) = default;
};

inline constexpr double kFirstLossScale = 0x1p16;
inline constexpr double kLeastLossScale = 0x1p-14;  // the smallest normal number of f16
inline constexpr double kMostLossScale = 0x1p24;    // which makes its smallest number 1
inline constexpr std::int64_t kLossScaleInterval = 2000;

// Whether it is a power of two in this range.
inline bool is_loss_scale(double factor) noexcept {
  int exponent = 0;
  return factor >= kLeastLossScale && factor <= kMostLossScale &&
         std::frexp(factor, &exponent) == 0.5;
}

// What a run begins with. `fixed`: a factor that stays; 0: one that adapts in f16, else 1.
LossScale first_loss_scale(DType compute, double fixed) noexcept;

// After an overflow. False, and nothing changes, where the factor has to stay.
bool lower(LossScale& scale) noexcept;

// After a step without overflow.
void count_clean_step(LossScale& scale) noexcept;

}  // namespace winnow::train
