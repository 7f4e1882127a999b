#pragma once

#include <cstdint>

#include "train/backend/lower/kernel_arguments.h"

// Arguments of the kernels of local response norm, see train/ops/local_response_norm.h.
namespace winnow::train::kernels {

struct LocalResponseNormLayer {
  Element type;  // element type of x, y and their gradients
  std::int64_t rows, channels;
  std::int64_t size;
  float share;  // factor of each square: alpha / size
  float beta, k;
};

struct LocalResponseNorm {
  LocalResponseNormLayer layer;
  const void* x;
  const void* dy;  // only for the backward pass
  void* to;        // forward: y; backward: dx
};

}  // namespace winnow::train::kernels
