#pragma once

#include "train/graph/operation.h"

namespace winnow::train {

// Layer norm over the channels of each pixel: PyTorch's LayerNorm(C) for data with channels last,
// ConvNeXt's LayerNorm2d. For a norm over a whole sample, use group_norm with one group.
// Letters below: N samples, C channels, H W image, M = N*H*W pixels.
// Source  Ba et al. 2016.

struct LayerNormAttributes {
  double epsilon = 1e-5;
};

// Layer norm: x (N,C,H,W) or (N,C), scale (C), shift (C) -> y, mean (M), variance (M)
// y = scale * (x - mean) / sqrt(variance + epsilon) + shift, with the biased variance. The same in
// training and in evaluation.
extern const Operation kLayerNorm;

// Backward pass of layer norm: x, scale, mean, variance, dy -> dx, dscale, dshift
extern const Operation kLayerNormBackward;

}  // namespace winnow::train
