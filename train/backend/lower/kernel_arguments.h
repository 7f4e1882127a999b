#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

// Arguments of the kernels that every compiling backend has, in host or device memory. Activations
// are NHWC. Statistics, parameters and losses are f32.
namespace winnow::train {

// How an element is stored. bf16 is the upper half of an f32; f16 is that of train/tensor/f16.h.
// Both are rounded to nearest even.
enum class Element : std::uint8_t { kF32, kBf16, kF16 };
constexpr std::size_t bytes_of(Element element) noexcept {
  return element == Element::kF32 ? 4 : 2;
}
constexpr std::string_view name_of(Element element) noexcept {
  return element == Element::kF32 ? "f32" : element == Element::kBf16 ? "bf16" : "f16";
}

namespace kernels {

using train::Element;

struct Convert {
  const void* from;
  Element from_type;
  void* to;
  Element to_type;
  std::int64_t count;
};

struct Elementwise {
  Element type;
  const void* a;
  const void* b;
  void* y;
  std::int64_t count;
};

// ---- Batch norm of a matrix with N*H*W rows.

struct NormLayer {
  Element type;  // element type of x, y, residual and their gradients
  std::int64_t rows;
  std::int64_t channels;
  double epsilon;
  bool relu;
};

// For each channel. The variance is biased.
struct NormStatistics {
  float* mean;
  float* variance;
};

// Memory besides operands, for backends whose kernels need it.
struct NormMemory {
  float* coefficients;  // written by the forward for the backward; or nullptr
  void* scratch;
};

struct BatchNorm {
  NormLayer layer;
  const void* x;
  const void* residual;  // or nullptr
  void* y;
  const float* scale;
  const float* shift;
  NormStatistics statistics;  // written in training, read for inference
  NormMemory memory;
};

// In a backward in steps (train/ops/batch_norm.h), kBatchNormSums writes the last four.
// kBatchNormInputGradient reads the means and writes the first two.
struct NormGradients {
  void* dx;
  void* dresidual;  // or nullptr
  float* dscale;
  float* dshift;
  float* mean_product = nullptr;   // dscale / rows; nullptr if the backward is one step
  float* mean_gradient = nullptr;  // dshift / rows
};

struct BatchNormBackward {
  NormLayer layer;
  const void* x;
  const void* dy;
  const void* y;  // the ReLU was open where it is > 0; nullptr: no ReLU, or `coefficients` tell
  const float* scale;
  NormStatistics statistics;  // read
  NormGradients gradients;
  NormMemory memory;
};

// ---- Pooling.

struct PoolWindow {
  int kernel_h, kernel_w, stride, pad;
};
struct PoolLayer {
  std::int64_t batch, channels, height, width;  // extents of x
  std::int64_t out_height, out_width;           // extents of y
  PoolWindow window;
};
struct Pool {
  Element type;
  PoolLayer layer;
  const void* from;  // x; backward: dy
  void* to;          // y; backward: dx
  // max: position of the maximum in the window, row-major; the first one if there are ties
  std::uint8_t* index;
};

// ---- Losses.

struct LossLayer {
  Element type;  // element type of logits and their gradient
  std::int64_t batch, classes;
  double smoothing;
};
struct Loss {
  LossLayer layer;
  const void* logits;
  const float* targets;
  const float* weights;
  float* loss;        // forward: sum of weights * per_sample
  float* per_sample;  // forward
  void* dlogits;      // backward
};

}  // namespace kernels
}  // namespace winnow::train
