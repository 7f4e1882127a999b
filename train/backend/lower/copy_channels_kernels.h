#pragma once

#include <cstdint>

#include "train/backend/lower/kernel_arguments.h"

// Arguments of the kernels of concat and slice (train/ops/concat.h), and of tokens.
namespace winnow::train::kernels {

// Copies `channels` elements of each row. Strides are in elements. A from_stride of 0 repeats one
// row.
struct CopyChannels {
  Element type;
  std::int64_t rows, channels;
  const void* from;  // the first of the copied channels
  std::int64_t from_stride;
  void* to;
  std::int64_t to_stride;
};

}  // namespace winnow::train::kernels
