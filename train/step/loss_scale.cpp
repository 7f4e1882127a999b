#include "train/step/loss_scale.h"

#include <cmath>

namespace winnow::train {

LossScale first_loss_scale(DType compute, double fixed) noexcept {
  if (compute != DType::kF16) return {};
  if (fixed > 0) return {.factor = fixed};
  return {.factor = kFirstLossScale, .adapts = true};
}

bool lower(LossScale& scale) noexcept {
  if (!scale.adapts || scale.factor <= kLeastLossScale) return false;
  scale.factor /= 2;
  scale.clean_steps = 0;
  return true;
}

void count_clean_step(LossScale& scale) noexcept {
  if (!scale.adapts || ++scale.clean_steps < kLossScaleInterval) return;
  scale.clean_steps = 0;
  if (scale.factor < kMostLossScale) scale.factor *= 2;
}

}  // namespace winnow::train
