#pragma once

#include "train/graph/operation.h"
#include "train/tensor/tensor.h"

namespace winnow::train {

// Fully connected layer.
// x (N,D), or (N,C,H,W) with D = C*H*W in that order. [x]: optional.

struct LinearAttributes {
  bool bias = false;
  Shape data_shape;  // shape of dx, for kLinearBackwardData
};

extern const Operation kLinear;                // x, w (K,D), [b (K)] -> y (N,K)
extern const Operation kLinearBackwardData;    // dy, w -> dx
extern const Operation kLinearBackwardWeight;  // x, dy -> dw, [db], with LinearAttributes::bias

}  // namespace winnow::train
