#pragma once

#include <cstdint>

#include "train/backend/lower/kernel_arguments.h"

// Arguments of the kernels of group norm, see train/ops/group_norm.h.
namespace winnow::train::kernels {

struct GroupNormLayer {
  Element type;  // element type of x, y and their gradients
  std::int64_t batch, pixels, channels, groups;
  double epsilon;
};

struct GroupNorm {
  GroupNormLayer layer;
  const void* x;
  void* y;
  const float* scale;
  const float* shift;
  NormStatistics statistics;  // mean and variance, shape (batch, groups); written by the kernel
  void* scratch;              // scratch memory; nullptr if the backend's kernel needs none
};

struct GroupNormGradients {
  void* dx;
  float* dscale;
  float* dshift;
};

struct GroupNormBackward {
  GroupNormLayer layer;
  const void* x;
  const void* dy;
  const float* scale;
  NormStatistics statistics;  // mean and variance from the forward pass; read by the kernel
  GroupNormGradients gradients;
  void* scratch;
};

}  // namespace winnow::train::kernels
