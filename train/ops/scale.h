#pragma once

#include "train/graph/operation.h"
#include "train/tensor/tensor.h"

namespace winnow::train {

// Multiplies data by a factor that many elements share. N samples, C channels, H W image.
// The shape of the factor determines which elements share it:
//   (N,C,1,1) or (N,C)  all of one channel of one sample, as in squeeze and excite (Hu et al. 2018)
//   (C,1,1)             all of one channel, as in layer scale (Touvron et al. 2021)

struct ScaleAttributes {
  Shape factor_shape;  // for kScaleFactorGradient
};

// Product with a factor: x (N,C,H,W) or (N,C), factor -> y.
// The gradient of x is the same operation applied to dy.
extern const Operation kScale;

// Gradient of the factor: x, dy -> dfactor, with shape ScaleAttributes::factor_shape; f32 for
// (C,1,1)
extern const Operation kScaleFactorGradient;

}  // namespace winnow::train
