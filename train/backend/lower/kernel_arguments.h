#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

// Arguments of the kernels that every compiling backend has, in host or device memory. Activations
// are NHWC. Statistics, parameters and losses are f32.
namespace winnow::train {

// How an element lies in memory. bf16 is the upper half of an f32, f16 is train/tensor/f16.h's;
// both are rounded to nearest even.
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

// ---- Batch norm over a matrix of N*H*W rows.

struct NormLayer {
  Element type;  // of x, y, residual and their gradients
  std::int64_t rows;
  std::int64_t channels;
  double epsilon;
  bool relu;
};

// Of each channel. The variance is biased.
struct NormStatistics {
  float* mean;
  float* variance;
};

// Memory besides operands, where a backend's kernels want it.
struct NormMemory {
  float* coefficients;  // written by the forward for the backward; or null
  void* scratch;
};

struct BatchNorm {
  NormLayer layer;
  const void* x;
  const void* residual;  // or null
  void* y;
  const float* scale;
  const float* shift;
  NormStatistics statistics;  // written in training, read for inference
  NormMemory memory;
};

// Of a backward in steps (train/ops/batch_norm.h) kBatchNormSums writes the last four, and
// kBatchNormInputGradient reads the means and writes the first two.
struct NormGradients {
  void* dx;
  void* dresidual;  // or null
  float* dscale;
  float* dshift;
  float* mean_product = nullptr;   // dscale by row; null where the backward is one step
  float* mean_gradient = nullptr;  // dshift by row
};

struct BatchNormBackward {
  NormLayer layer;
  const void* x;
  const void* dy;
  const void* y;  // where it is > 0 the ReLU was open; null: no ReLU, or coefficients tell
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
  std::int64_t batch, channels, height, width;  // of x
  std::int64_t out_height, out_width;           // of y
  PoolWindow window;
};
struct Pool {
  Element type;
  PoolLayer layer;
  const void* from;     // x; backward: dy
  void* to;             // y; backward: dx
  std::uint8_t* index;  // max: row-major place of the first greatest in the window
};

// ---- Losses.

struct LossLayer {
  Element type;  // of logits and their gradient
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
