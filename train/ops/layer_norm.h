#pragma once

#include "train/graph/operation.h"

namespace winnow::train {

// Layer norm over the channels of each pixel (Ba et al. 2016), PyTorch's LayerNorm(C) of data whose
// channels come last; ConvNeXt's LayerNorm2d. N batch, C channels, H W image, M = N*H*W pixels.
// One norm for a whole sample is group_norm with one group.

struct LayerNormAttributes {
  double epsilon = 1e-5;
};

// x (N,C,H,W) or (N,C), scale (C), shift (C) -> y, mean (M), variance (M)
// y = scale * (x - mean) / sqrt(variance + epsilon) + shift, the variance biased. The same in
// training and in evaluation.
extern const Operation kLayerNorm;

// x, scale, mean, variance, dy -> dx, dscale, dshift
extern const Operation kLayerNormBackward;

}  // namespace winnow::train
