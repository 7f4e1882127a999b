#pragma once

#include "train/graph/operation.h"

namespace winnow::train {

// Batch norm over N, H, W, with the residual sum and ReLU that often follow it.
// N batch, C channels, H W image; or vectors (N,C). [x]: optional.
// Source  Ioffe and Szegedy 2015.

struct NormAttributes {
  double epsilon = 1e-5;
  bool relu = false;
  bool residual = false;
};

// x, scale (C), shift (C), [residual] -> y, mean (C), variance (C)
// y = scale * (x - mean) / sqrt(variance + epsilon) + shift [+ residual], then ReLU if
// NormAttributes::relu. Mean and biased variance are those of the batch.
extern const Operation kBatchNorm;

// x, scale, mean, variance, dy, [y] -> dx, dscale, dshift, [dresidual]
// y          only with relu
// dresidual  only with relu and residual; without relu it equals dy
extern const Operation kBatchNormBackward;

// x, scale, shift, running_mean, running_var, [residual] -> y
extern const Operation kBatchNormInference;

// Batch norm in steps. Between the steps, the statistics of several micro-batches can be combined.
// kBatchNorm          = kBatchNormStatistics, then kBatchNormInference with its results
// kBatchNormBackward  = kBatchNormSums, then kBatchNormInputGradient

// x -> mean (C), biased variance (C)
extern const Operation kBatchNormStatistics;

// x, mean, variance, dy, [y] -> dscale, dshift, mean_product (C), mean_gradient (C)
// The last two are dscale and dshift divided by N*H*W.
extern const Operation kBatchNormSums;

// x, scale, mean, variance, dy, mean_product, mean_gradient, [y] -> dx, [dresidual]
extern const Operation kBatchNormInputGradient;

}  // namespace winnow::train
