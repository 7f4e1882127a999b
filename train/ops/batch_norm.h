#pragma once

#include "train/graph/operation.h"

namespace winnow::train {

// Batch norm over N, H, W, optionally with the residual sum and ReLU that often follow it.
// Data are images (N,C,H,W) with N samples and C channels, or vectors (N,C). Below, [x] stands for
// an optional operand.
// Source  Ioffe and Szegedy 2015.

struct NormAttributes {
  double epsilon = 1e-5;
  bool relu = false;
  bool residual = false;
};

// Batch norm in training: x, scale (C), shift (C), [residual] -> y, mean (C), variance (C)
// y = scale * (x - mean) / sqrt(variance + epsilon) + shift [+ residual], then ReLU if
// NormAttributes::relu. Mean and biased variance are those of the batch.
extern const Operation kBatchNorm;

// Backward pass of batch norm: x, scale, mean, variance, dy, [y] -> dx, dscale, dshift, [dresidual]
// y          Exists only with NormAttributes::relu.
// dresidual  Exists only with relu and residual; without relu it would equal dy.
extern const Operation kBatchNormBackward;

// Batch norm for inference: x, scale, shift, running_mean, running_var, [residual] -> y
extern const Operation kBatchNormInference;

// Synchronised batch norm: each pass is split in two nodes, between which the statistics of several
// micro-batches can be combined.
// kBatchNorm          = kBatchNormStatistics, then kBatchNormInference with its results
// kBatchNormBackward  = kBatchNormSums, then kBatchNormInputGradient

// Statistics of a batch: x -> mean (C), biased variance (C)
extern const Operation kBatchNormStatistics;

// First node of the split backward pass: x, mean, variance, dy, [y] -> dscale, dshift, mean_product
// (C), mean_gradient (C)
// mean_product and mean_gradient are dscale and dshift divided by N*H*W.
extern const Operation kBatchNormSums;

// Second node of the split backward pass: x, scale, mean, variance, dy, mean_product,
// mean_gradient, [y] -> dx, [dresidual]
extern const Operation kBatchNormInputGradient;

}  // namespace winnow::train
