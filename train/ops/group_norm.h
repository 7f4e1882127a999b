#pragma once

#include "train/graph/operation.h"

namespace winnow::train {

// Group norm (Wu and He 2018), PyTorch's GroupNorm: the channels of each sample are cut into groups
// of neighbours, and each group is normalised by itself. One group: layer norm; as many as
// channels: instance norm. N batch, C channels, G groups.

struct GroupNormAttributes {
  int groups = 1;  // divides C
  double epsilon = 1e-5;
};

// x, scale (C), shift (C) -> y, mean (N,G), variance (N,G)
// y = scale * (x - mean) / sqrt(variance + epsilon) + shift, the variance biased. The same in
// training and in evaluation.
extern const Operation kGroupNorm;

// x, scale, mean, variance, dy -> dx, dscale, dshift
extern const Operation kGroupNormBackward;

}  // namespace winnow::train
