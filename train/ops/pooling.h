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
  Shape data_shape;   // shape of dx, for the backward operations
  bool ceil = false;  // a last window that begins within the data may extend beyond it
};

// x -> y, index.
// The index (u8) is the position of the maximum within its window, row-major; the first one if
// there are ties. Padding never wins.
extern const Operation kMaxPool;
extern const Operation kMaxPoolBackward;  // dy, index -> dx

extern const Operation kAvgPool;  // x -> y: mean over the window, with padding counted as zeros
extern const Operation kAvgPoolBackward;  // dy -> dx

}  // namespace winnow::train
