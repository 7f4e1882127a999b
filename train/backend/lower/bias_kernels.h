#pragma once

#include <cstdint>

#include "train/backend/lower/kernel_arguments.h"

// Arguments of kernels that add one row to all rows of a matrix.
namespace winnow::train::kernels {

// Adds a bias: y (rows, channels) += bias (channels).
struct AddBias {
  Element type;
  void* y;
  const float* bias;
  std::int64_t rows, channels;
};

// Gradient of a bias: dbias = sum of dy over the rows.
struct BiasGradient {
  Element type;
  const void* dy;
  float* dbias;
  std::int64_t rows, channels;
  void* scratch;  // nullptr if the backend's kernel needs none
};

}  // namespace winnow::train::kernels
