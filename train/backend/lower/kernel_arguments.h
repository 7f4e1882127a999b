#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

// Arguments of the kernels that all compiling backends have, in host or device memory. Activations
// are NHWC. Statistics, parameters and losses are f32.
namespace winnow::train {

// Element type in memory. bf16 is the upper half of an f32; f16 is IEEE half precision
// (train/tensor/f16.h). Conversions to both round to nearest even.
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

// ---- Batch norm of a matrix with N*H*W rows, one for each pixel.

struct NormLayer {
  Element type;  // element type of x, y, residual and their gradients
  std::int64_t rows;
  std::int64_t channels;
  double epsilon;
  bool relu;
};

// Mean and biased variance of each channel.
struct NormStatistics {
  float* mean;
  float* variance;
};

// Memory that a batch norm kernel uses besides its operands, on backends that need it.
struct NormMemory {
  float* coefficients;  // written by the forward pass for the backward pass; or nullptr
  void* scratch;
};

struct BatchNorm {
  NormLayer layer;
  const void* x;
  const void* residual;  // values to add to the result; or nullptr
  void* y;
  const float* scale;
  const float* shift;
  NormStatistics statistics;  // mean and variance: written in training, read for inference
  NormMemory memory;
};

// Gradients of a batch norm. If the backward pass is split in two nodes (train/ops/batch_norm.h),
// kBatchNormSums writes all except dx and dresidual. kBatchNormInputGradient reads mean_product and
// mean_gradient, and writes dx and dresidual.
struct NormGradients {
  void* dx;
  void* dresidual;  // gradient of the residual; or nullptr
  float* dscale;
  float* dshift;
  float* mean_product = nullptr;   // dscale / rows; nullptr if the backward pass is one node
  float* mean_gradient = nullptr;  // dshift / rows
};

struct BatchNormBackward {
  NormLayer layer;
  const void* x;
  const void* dy;
  // Output of the forward pass: the ReLU passes the gradient where y > 0. nullptr: there is no
  // ReLU, or `coefficients` tells where it passes.
  const void* y;
  const float* scale;
  NormStatistics statistics;  // mean and variance from the forward pass; read by the kernel
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
  const void* from;  // forward: x; backward: dy
  void* to;          // forward: y; backward: dx
  // For max pooling: row-major position of the maximum in its window; of several equal ones, the
  // first.
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
  float* loss;        // result of the forward pass: sum of weights * per_sample
  float* per_sample;  // result of the forward pass: loss of each sample
  void* dlogits;      // result of the backward pass
};

}  // namespace kernels
}  // namespace winnow::train
