#pragma once

#include "train/graph/operation.h"

namespace winnow::train {

// Batch norm (Ioffe and Szegedy 2015) over N, H, W, with what often follows it.
// N batch, C channels, H W image, which vectors (N,C) have not. [x]: optional.

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

// Batch norm in steps, between which the numbers of several micro-batches can be brought together:
// kBatchNorm is kBatchNormStatistics, then kBatchNormInference with what that gives, and
// kBatchNormBackward is kBatchNormSums, then kBatchNormInputGradient.

// x -> mean (C), variance (C), biased.
extern const Operation kBatchNormStatistics;

// x, mean, variance, dy, [y] -> dscale, dshift, mean_product (C), mean_gradient (C)
// The last two are dscale and dshift divided by N*H*W.
extern const Operation kBatchNormSums;

// x, scale, mean, variance, dy, mean_product, mean_gradient, [y] -> dx, [dresidual]
extern const Operation kBatchNormInputGradient;

}  // namespace winnow::train
