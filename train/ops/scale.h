#pragma once

#include "train/graph/operation.h"
#include "train/tensor/tensor.h"

namespace winnow::train {

// Products with one factor for many elements. N batch, C channels, H W image. The factor's shape
// says what shares one:
//   (N,C,1,1) or (N,C)   a channel of a sample, as squeeze and excite has it (Hu et al. 2018)
//   (C,1,1)              a channel, as layer scale has it (Touvron et al. 2021)

struct ScaleAttributes {
  Shape factor_shape;  // for kScaleFactorGradient
};

// x (N,C,H,W) or (N,C), factor -> y. The gradient of x is the same product with dy.
extern const Operation kScale;

// x, dy -> gradient of the factor, of ScaleAttributes::factor_shape; f32 for (C,1,1)
extern const Operation kScaleFactorGradient;

}  // namespace winnow::train
