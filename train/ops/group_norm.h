#pragma once

#include "train/graph/operation.h"

namespace winnow::train {

// Group norm, as PyTorch's GroupNorm: the C channels of each of N samples are divided into G groups
// of adjacent channels, and each group is normalised separately. G = 1 is layer norm; G = C is
// instance norm.
// Source  Wu and He 2018.

struct GroupNormAttributes {
  int groups = 1;  // number of groups; divides the number of channels
  double epsilon = 1e-5;
};

// Group norm: x, scale (C), shift (C) -> y, mean (N,G), variance (N,G)
// y = scale * (x - mean) / sqrt(variance + epsilon) + shift, with the biased variance. The same in
// training and in evaluation.
extern const Operation kGroupNorm;

// Backward pass of group norm: x, scale, mean, variance, dy -> dx, dscale, dshift
extern const Operation kGroupNormBackward;

}  // namespace winnow::train
