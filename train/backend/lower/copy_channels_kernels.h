#pragma once

#include <cstdint>

#include "train/backend/lower/kernel_arguments.h"

// Arguments of the kernels of concat and slice (train/ops/concat.h), and of tokens.
namespace winnow::train::kernels {

// Copies `channels` elements of each row. Strides are in elements. With from_stride 0, one row is
// copied to all rows.
struct CopyChannels {
  Element type;
  std::int64_t rows, channels;
  const void* from;  // address of the first channel to copy
  std::int64_t from_stride;
  void* to;
  std::int64_t to_stride;
};

}  // namespace winnow::train::kernels
