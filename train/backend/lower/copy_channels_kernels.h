#pragma once

#include <cstdint>

#include "train/backend/lower/kernel_arguments.h"

// Arguments of the kernels of concat and slice, see train/ops/concat.h, and of tokens.
namespace winnow::train::kernels {

// Of each row `channels` elements; rows begin a stride of elements apart. A from_stride of 0
// repeats one row.
struct CopyChannels {
  Element type;
  std::int64_t rows, channels;
  const void* from;  // the first of the channels
  std::int64_t from_stride;
  void* to;
  std::int64_t to_stride;
};

}  // namespace winnow::train::kernels
