#pragma once

#include "train/graph/operation.h"

namespace winnow::train {

// Group norm, as PyTorch's GroupNorm: each sample's channels are cut into groups of adjacent
// channels, and each group is normalised separately.
// One group is layer norm; as many groups as channels are instance norm.
// N batch, C channels, G groups.
// Source  Wu and He 2018.

struct GroupNormAttributes {
  int groups = 1;  // divides C
  double epsilon = 1e-5;
};

// x, scale (C), shift (C) -> y, mean (N,G), variance (N,G)
// y = scale * (x - mean) / sqrt(variance + epsilon) + shift, with the biased variance. The same in
// training and in evaluation.
extern const Operation kGroupNorm;

// x, scale, mean, variance, dy -> dx, dscale, dshift
extern const Operation kGroupNormBackward;

}  // namespace winnow::train
