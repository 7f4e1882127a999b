#pragma once

#include "train/graph/operation.h"
#include "train/tensor/tensor.h"

namespace winnow::train {

// Max and average pooling.

struct PoolAttributes {
  int kernel_h = 1;
  int kernel_w = 1;
  int stride = 1;
  int pad = 0;
  Shape data_shape;  // for the backward operations: shape of dx
  // A last window that begins within the data may extend beyond it, as PyTorch's ceil_mode.
  bool ceil = false;
};

// Max pooling: x -> y, index.
// index  u8: position of the maximum within its window, row-major; the first one in a tie. Padding
//        is never the maximum.
extern const Operation kMaxPool;
extern const Operation kMaxPoolBackward;  // inputs dy, index -> output dx

extern const Operation kAvgPool;  // x -> y: mean over each window, with padding counted as zeros
extern const Operation kAvgPoolBackward;  // dy -> dx

}  // namespace winnow::train
