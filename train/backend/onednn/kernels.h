#pragma once

#include <cstddef>
#include <cstdint>

// What oneDNN has no good primitive for: batch norm whose statistics are had, fused with the
// addition and the ReLU behind it, pooling that tells the winner, the loss, input pixels. NHWC
// throughout.
//
// The same source is compiled for several instruction sets and one set of functions is chosen at
// run time. All arithmetic is f32 (sums across chunks f64) in a fixed order over partitions that
// depend on the shape alone, without contraction to fused multiply-adds: every instruction set and
// every number of threads gives the same bits.
namespace winnow::train::kernels {

// A tensor's rows are summed in at most so many parts, whose sums are then added in order.
inline constexpr int kParts = 128;
inline constexpr int kLanes = 16;

// How activations lie in memory. bf16 is the upper half of an f32, rounded to nearest even,
// without subnormal numbers.
enum class Element : std::uint8_t { kF32, kBf16 };

struct Convert {
  const void* from;
  Element from_type;
  void* to;
  Element to_type;
  std::int64_t count;
};

// y = (pixel / 255 - mean_c) / deviation_c.
struct Normalize {
  const std::uint8_t* pixels;
  Element type;
  void* y;
  std::int64_t count;  // rows * channels
  const float* table;  // pattern elements of factor, then pattern elements of offset
  int pattern;         // a multiple of the channels and of kLanes
};

// Vectors of a batch norm, padded to a multiple of kLanes channels: mean, factor, offset with
// y = (x - mean) * factor + offset. Written by the forward; the backward tells from them, bit by
// bit, where the ReLU was open, without reading y.
std::int64_t batch_norm_coefficients(std::int64_t channels) noexcept;   // floats
std::int64_t batch_norm_scratch_bytes(std::int64_t channels) noexcept;  // forward or backward

struct BatchNorm {
  Element type;
  const void* x;
  const void* residual;  // or null
  void* y;
  std::int64_t rows;  // N*H*W
  std::int64_t channels;
  const float* scale;
  const float* shift;
  double epsilon;
  bool relu;
  float* mean;  // batch statistics: written in training, read for inference
  float* variance;
  float* coefficients;
  void* scratch;  // training only
};

struct BatchNormBackward {
  Element type;
  const void* x;
  const void* dy;
  const void* y;  // where it is > 0 the ReLU was open; or null: no ReLU, or see coefficients
  const float* coefficients;  // of the forward, for a ReLU with y null and no residual; or null
  void* dx;
  void* dresidual;  // or null
  std::int64_t rows;
  std::int64_t channels;
  const float* scale;
  const float* mean;
  const float* variance;
  double epsilon;
  float* dscale;
  float* dshift;
  void* scratch;
};

struct Elementwise {
  Element type;
  const void* a;
  const void* b;
  void* y;
  std::int64_t count;
};

struct Pool {
  Element type;
  const void* from;     // x; backward: dy
  void* to;             // y; backward: dx
  std::uint8_t* index;  // max: row-major place of the first greatest in the window
  std::int64_t batch, channels, height, width;  // of x
  std::int64_t out_height, out_width;
  int kernel_h, kernel_w, stride, pad;
};

struct Loss {
  Element type;
  const void* logits;
  const float* targets;
  const float* weights;
  std::int64_t batch, classes;
  double smoothing;
  float* loss;        // forward
  float* per_sample;  // forward
  void* dlogits;      // backward, of `type`
};

// All outputs are assigned. `threads` bounds how many work; it changes no bit of the result.
struct Table {
  const char* name;  // the instruction set it was compiled for
  void (*convert)(const Convert&, int threads);
  void (*normalize)(const Normalize&, int threads);
  void (*batch_norm)(const BatchNorm&, int threads);
  void (*batch_norm_inference)(const BatchNorm&, int threads);
  void (*batch_norm_backward)(const BatchNormBackward&, int threads);
  void (*relu)(const Elementwise&, int threads);           // a -> y; NaN stays NaN
  void (*relu_backward)(const Elementwise&, int threads);  // a: y of the forward, b: dy -> y: dx
  void (*add)(const Elementwise&, int threads);
  void (*max_pool)(const Pool&, int threads);
  void (*max_pool_backward)(const Pool&, int threads);
  void (*avg_pool)(const Pool&, int threads);
  void (*avg_pool_backward)(const Pool&, int threads);
  void (*loss)(const Loss&, int threads);
  void (*loss_backward)(const Loss&, int threads);
};

// One each of kernels.cpp's compilations. generic runs anywhere; the others need what their name
// says.
const Table& generic() noexcept;
const Table& x86_64_v3() noexcept;
const Table& x86_64_v4() noexcept;
const Table& x86_64_v4_bf16() noexcept;

bool runs_here(const Table& table) noexcept;
const Table& best() noexcept;  // of those that run here

}  // namespace winnow::train::kernels
