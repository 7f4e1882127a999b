#pragma once

#include <cstdint>

#include "train/backend/onednn/kernels.h"

namespace winnow::train::kernels {

// Scratch memory of a layer norm's backward.
constexpr std::int64_t layer_norm_scratch_bytes(std::int64_t channels) noexcept {
  const std::int64_t padded = (channels + kLanes - 1) / kLanes * kLanes;
  return kParts * 2 * padded * static_cast<std::int64_t>(sizeof(double));
}

}  // namespace winnow::train::kernels
