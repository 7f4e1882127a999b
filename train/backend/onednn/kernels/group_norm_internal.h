#pragma once

#include "train/backend/onednn/kernels.h"

namespace winnow::train::kernels {

// Scratch size for forward or backward: for each sample and channel two sums, and four numbers of
// its group.
static constexpr std::int64_t group_norm_scratch_bytes(std::int64_t batch, std::int64_t channels) {
  const std::int64_t places = (channels + kLanes - 1) / kLanes * kLanes;
  return batch * places * static_cast<std::int64_t>(2 * sizeof(double) + 4 * sizeof(float));
}

}  // namespace winnow::train::kernels
