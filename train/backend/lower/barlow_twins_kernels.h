#pragma once

#include "train/backend/lower/kernel_arguments.h"
#include "train/tensor/device_function.h"

// Arguments and scratch layout of the kernels of the Barlow Twins loss, see
// train/ops/barlow_twins.h.
namespace winnow::train::kernels {

struct TwinsLayer {
  Element type;  // element type of z and dz
  std::int64_t pairs, features;
  double redundancy;
  double epsilon;
};
struct BarlowTwins {
  TwinsLayer layer;
  const void* z;
  const float* weights;
  float* loss;        // result of the forward pass
  float* per_sample;  // result of the forward pass
  void* dz;           // result of the backward pass
  void* scratch;      // memory of twins_scratch_bytes()
};

// Number of columns of the matrices in scratch memory: the features, rounded up to a multiple of
// the vector size.
static WINNOW_DEVICE_FN std::int64_t twins_width(const TwinsLayer& layer) {
  return (layer.features + 15) / 16 * 16;
}

// Layout of the scratch memory of a node. Matrices have twins_width() columns. Matrices that are
// multiplied have zeros after the features.
struct TwinsScratch {
  double* rows;     // for each feature of the first view, its loss contribution; then one more sum
  float* normal;    // normalised first views, then second views; (pairs, width) each
  float* gradient;  // gradient with respect to `normal`
  float* inverse;   // 1 / standard deviation of each feature: first views, then second views
  float* correlation;  // cross-correlation matrix (width, width); in the backward pass its gradient
  float* transposed;   // gradient of the cross-correlation matrix, transposed
};
static WINNOW_DEVICE_FN TwinsScratch twins_scratch(const TwinsLayer& layer, void* memory) {
  const std::int64_t width = twins_width(layer);
  const std::int64_t both = 2 * layer.pairs * width;
  double* rows = static_cast<double*>(memory);
  float* normal = reinterpret_cast<float*>(rows + width + 16);
  float* correlation = normal + 2 * both + 2 * width;
  return {rows, normal, normal + both, normal + 2 * both, correlation, correlation + width * width};
}
static inline std::int64_t twins_scratch_bytes(const TwinsLayer& layer) {
  const std::int64_t width = twins_width(layer);
  return 8 * (width + 16) + 4 * (4 * layer.pairs * width + 2 * width + 2 * width * width);
}

}  // namespace winnow::train::kernels
