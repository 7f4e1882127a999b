#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "train/backend/lower/activation_kernels.h"
#include "train/backend/lower/attention_kernels.h"
#include "train/backend/lower/barlow_twins_kernels.h"
#include "train/backend/lower/bias_kernels.h"
#include "train/backend/lower/copy_channels_kernels.h"
#include "train/backend/lower/dropout_kernels.h"
#include "train/backend/lower/group_norm_kernels.h"
#include "train/backend/lower/kernel_arguments.h"
#include "train/backend/lower/local_response_norm_kernels.h"
#include "train/backend/lower/scale_kernels.h"
#include "train/backend/lower/sigmoid_loss_kernels.h"

// Our own CPU kernels, where oneDNN has no good primitive: batch norm that returns its statistics
// and is fused with the following addition and ReLU, pooling that returns the positions of maxima,
// losses, input pixels.
//
// Layout        NHWC.
// Compilations  The same sources (kernels/) are compiled for several instruction sets. The program
//               chooses one of them at start.
// Same bits     For every instruction set and number of threads. Arithmetic is in f32 (sums across
//               chunks in f64), in a fixed order over partitions that depend only on the shape,
//               without contraction to fused multiply-adds.
namespace winnow::train::kernels {

// Largest number of parts into which the rows of a tensor are divided for sums. The sums of the
// parts are then added in order.
inline constexpr int kParts = 128;
inline constexpr int kLanes = 16;

// y = (pixel / 255 - mean_c) / stddev_c.
struct Normalize {
  const std::uint8_t* pixels;
  Element type;
  void* y;
  std::int64_t count;  // rows * channels
  const float* table;  // `pattern` factors, then as many offsets
  // Length of the repeated pattern: a multiple of both the number of channels and kLanes.
  int pattern;
};

// Layout of NormMemory::coefficients: mean, factor and offset with y = (x - mean) * factor +
// offset, each padded to a multiple of kLanes channels. The forward pass writes them. The backward
// pass computes y from them with the same bits, so it knows where the ReLU was active without
// reading y.
std::int64_t batch_norm_coefficients(std::int64_t channels) noexcept;   // in floats
std::int64_t batch_norm_scratch_bytes(std::int64_t channels) noexcept;  // for forward or backward

// The kernels of one instruction set. Outputs are assigned, never accumulated. At most `threads`
// threads work.
struct Table {
  const char* name;  // instruction set for which the kernels were compiled
  void (*convert)(const Convert&, int threads);
  void (*normalize)(const Normalize&, int threads);
  void (*batch_norm)(const BatchNorm&, int threads);
  void (*batch_norm_inference)(const BatchNorm&, int threads);
  void (*batch_norm_backward)(const BatchNormBackward&, int threads);
  void (*relu)(const Elementwise&, int threads);  // ReLU: a -> y; NaN stays NaN
  // Backward pass of ReLU: a is y of the forward pass, b is dy; y becomes dx.
  void (*relu_backward)(const Elementwise&, int threads);
  void (*add)(const Elementwise&, int threads);
  void (*max_pool)(const Pool&, int threads);
  void (*max_pool_backward)(const Pool&, int threads);
  void (*avg_pool)(const Pool&, int threads);
  void (*avg_pool_backward)(const Pool&, int threads);
  void (*loss)(const Loss&, int threads);
  void (*loss_backward)(const Loss&, int threads);
  void (*group_norm)(const GroupNorm&, int threads);
  void (*group_norm_backward)(const GroupNormBackward&, int threads);
  void (*activation)(const Activate&, int threads);
  void (*activation_backward)(const Activate&, int threads);
  void (*scale)(const Scale&, int threads);
  void (*scale_factor_gradient)(const ScaleFactorGradient&, int threads);
  void (*copy_channels)(const CopyChannels&, int threads);
  // Layer norm: group norm of samples with one pixel and one group.
  void (*layer_norm)(const GroupNorm&, int threads);
  void (*layer_norm_backward)(const GroupNormBackward&, int threads);
  void (*dropout)(const Dropout&, int threads);
  // Copies channels, and writes 0 after them in each row of `to`.
  void (*pad_channels)(const CopyChannels&, int threads);
  void (*add_bias)(const AddBias&, int threads);
  void (*bias_gradient)(const BiasGradient&, int threads);
  void (*softmax)(const Softmax&, int threads);  // softmax of f32 values, as is its backward pass
  void (*softmax_backward)(const SoftmaxBackward&, int threads);
  void (*sigmoid_loss)(const SigmoidLoss&, int threads);
  void (*sigmoid_loss_backward)(const SigmoidLoss&, int threads);
  void (*local_response_norm)(const LocalResponseNorm&, int threads);
  void (*local_response_norm_backward)(const LocalResponseNorm&, int threads);
  void (*batch_norm_statistics)(const BatchNorm&, int threads);
  void (*batch_norm_sums)(const BatchNormBackward&, int threads);
  void (*batch_norm_input_gradient)(const BatchNormBackward&, int threads);
  void (*barlow_twins)(const BarlowTwins&, int threads);
  void (*barlow_twins_backward)(const BarlowTwins&, int threads);
};

// All compilations of the kernels, from the most capable instruction set to the generic one, which
// runs anywhere.
std::span<const Table* const> tables() noexcept;
bool runs_here(const Table& table) noexcept;
const Table& best() noexcept;  // the first compilation that this CPU can run

// CPU architecture, such as "x86_64"; "generic" if no instruction set is specialised.
std::string_view architecture() noexcept;

}  // namespace winnow::train::kernels
