#pragma once

#include "train/graph/operation.h"

namespace winnow::train {

// Batch norm (Ioffe and Szegedy 2015) over N, H, W, with what often follows it.
// N batch, C channels, H W image. [x]: optional.

struct NormAttributes {
  double epsilon = 1e-5;
  bool relu = false;
  bool residual = false;
};

// x, scale (C), shift (C), [residual] -> y, mean (C), variance (C)
// y = scale * (x - mean) / sqrt(variance + epsilon) + shift [+ residual], then ReLU with
// NormAttributes::relu. Mean and variance are the batch's, the variance biased.
extern const Operation kBatchNorm;

// x, scale, mean, variance, dy, [y] -> dx, dscale, dshift, [dresidual]
// y with relu; dresidual with relu and residual: without relu it is dy itself.
extern const Operation kBatchNormBackward;

// x, scale, shift, running_mean, running_var, [residual] -> y
extern const Operation kBatchNormInference;

}  // namespace winnow::train
