#pragma once

#include <cstdint>

#include "train/backend/lower/kernel_arguments.h"

// Arguments of the kernels that multiply by factors, see train/ops/scale.h.
namespace winnow::train::kernels {

struct ScaleLayer {
  Element type;  // element type of x, y and dy
  std::int64_t batch, pixels, channels;
  bool by_sample;  // whether factors are (batch, channels); otherwise (channels)
};

struct Scale {
  ScaleLayer layer;
  const void* x;
  const float* factor;
  void* y;
};

struct ScaleFactorGradient {
  ScaleLayer layer;
  const void* x;
  const void* dy;
  float* dfactor;
  void* scratch;
};

}  // namespace winnow::train::kernels
