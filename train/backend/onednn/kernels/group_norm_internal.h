#pragma once

#include "train/backend/onednn/kernels.h"

namespace winnow::train::kernels {

// For each sample and channel two sums and four numbers of its group, forward or backward.
static constexpr std::int64_t group_norm_scratch_bytes(std::int64_t batch, std::int64_t channels) {
  const std::int64_t places = (channels + kLanes - 1) / kLanes * kLanes;
  return batch * places * static_cast<std::int64_t>(2 * sizeof(double) + 4 * sizeof(float));
}

}  // namespace winnow::train::kernels
