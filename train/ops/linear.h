#pragma once

#include "train/graph/operation.h"
#include "train/tensor/tensor.h"

namespace winnow::train {

// Fully connected layer with K outputs, for N samples.
// x is (N,D), or (N,C,H,W) with D = C*H*W in that order. [x] stands for an optional operand.

struct LinearAttributes {
  bool bias = false;
  Shape data_shape;  // for kLinearBackwardData: shape of dx
};

extern const Operation kLinear;                // inputs x, w (K,D), [b (K)] -> y (N,K)
extern const Operation kLinearBackwardData;    // dy, w -> dx
extern const Operation kLinearBackwardWeight;  // x, dy -> dw, and db if LinearAttributes::bias

}  // namespace winnow::train
