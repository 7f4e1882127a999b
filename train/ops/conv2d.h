#pragma once

#include "train/graph/operation.h"
#include "train/tensor/tensor.h"

namespace winnow::train {

// Two-dimensional convolution (a cross-correlation) with zero padding.
// N batch, C K channels, H W image, P Q output image, R S kernel. [x]: optional.

struct ConvAttributes {
  int stride = 1;
  int pad = 0;
  bool bias = false;
  Shape data_shape;    // of dx, for kConv2dBackwardData
  Shape filter_shape;  // of dw, for kConv2dBackwardFilter
};

// w may be (K,C), which is (K,C,1,1): a linear layer at each pixel.
extern const Operation kConv2d;                // x, w (K,C,R,S), [b (K)] -> y (N,K,P,Q)
extern const Operation kConv2dBackwardData;    // dy, w -> dx
extern const Operation kConv2dBackwardFilter;  // x, dy -> dw, [db], with ConvAttributes::bias

}  // namespace winnow::train
