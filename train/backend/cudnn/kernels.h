#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "train/backend/cudnn/device.h"
#include "train/backend/lower/activation_kernels.h"
#include "train/backend/lower/attention_kernels.h"
#include "train/backend/lower/barlow_twins_kernels.h"
#include "train/backend/lower/bias_kernels.h"
#include "train/backend/lower/copy_channels_kernels.h"
#include "train/backend/lower/dropout_kernels.h"
#include "train/backend/lower/group_norm_kernels.h"
#include "train/backend/lower/local_response_norm_kernels.h"
#include "train/backend/lower/scale_kernels.h"
#include "train/backend/lower/sigmoid_loss_kernels.h"
#include "train/optim/averaging.h"
#include "train/optim/options.h"

// Our own CUDA kernels. They compute everything except convolutions and matrix products, for which
// they are the fallback.
//
// Memory     All pointers are device memory. Activations are NHWC of `type`; statistics, parameters
//            and losses are f32.
// Outputs    Are assigned, never accumulated. Every element is written.
// Same bits  In every run on one model of GPU. Sums have a fixed order over partitions that depend
//            only on the shape. No atomic additions, no contraction to fused multiply-adds.
namespace winnow::train::cudnn::kernels {

using train::kernels::Activate;
using train::kernels::AddBias;
using train::kernels::BarlowTwins;
using train::kernels::BatchNorm;
using train::kernels::BatchNormBackward;
using train::kernels::BiasGradient;
using train::kernels::Convert;
using train::kernels::CopyChannels;
using train::kernels::Dropout;
using train::kernels::Elementwise;
using train::kernels::GroupNorm;
using train::kernels::GroupNormBackward;
using train::kernels::LocalResponseNorm;
using train::kernels::Loss;
using train::kernels::LossLayer;
using train::kernels::Pool;
using train::kernels::PoolLayer;
using train::kernels::PoolWindow;
using train::kernels::Scale;
using train::kernels::ScaleFactorGradient;
using train::kernels::sigmoid_loss_of;
using train::kernels::sigmoid_slope_of;
using train::kernels::SigmoidLoss;
using train::kernels::Softmax;
using train::kernels::SoftmaxBackward;

// Normalises pixels: y = pixel * factor[c] + offset[c] for channel c.
struct Normalize {
  static constexpr int kMaxChannels = 16;
  const std::uint8_t* pixels;
  Element type;
  void* y;
  std::int64_t count;  // number of elements: rows * channels
  int channels;
  float factor[kMaxChannels];
  float offset[kMaxChannels];
};

// Converts a filter between the layout of parameters, f32 (K,C,R,S), and the layout that
// convolutions read, (K,R,S,C). Also for weights of linear layers over images; R and S are then the
// height and width of the image.
struct PackFilter {
  const float* from;  // KCRS
  void* to;           // KRSC
  Element to_type;
  std::int64_t k, c, r, s;
};
struct UnpackFilter {
  const void* from;  // KRSC
  Element from_type;
  float* to;  // KCRS
  std::int64_t k, c, r, s;
};

// Size in bytes of the scratch memory of a BiasGradient and of batch norm kernels.
std::size_t channel_sums_scratch_bytes(std::int64_t rows, std::int64_t channels) noexcept;

// A matrix product by simple loops, with one thread for each element of the result.
struct DirectMatmul {
  MatmulDescription description;
  const void* a;
  const void* b;
  void* result;
};

// Rearranges queries, keys, values or results of attention. `rows`: one row for each token, with
// the heads side by side. `matrices`: one matrix (tokens, width) for each head of each sample.
struct Heads {
  Element type;
  std::int64_t batch, tokens, heads, width;
  void* rows;  // address of the first element; rows are row_stride elements apart
  std::int64_t row_stride;
  void* matrices;
};

// A convolution by simple loops, with one thread for each element of the result. Operands are as in
// Product::run.
struct DirectConvolution {
  ConvolutionDescription description;
  const void* a;
  const void* b;
  void* result;
};

// Values that change from step to step. They are in device memory, so that the same kernel launches
// can be repeated in each step.
struct StepScalars {
  std::int64_t step;  // number of the step, from 0
  double lr;
  std::int32_t finite;  // 0: the gradient sums contain NaN or infinity, so nothing is updated
};

// Checks numbers: sets scalars->finite to 0 if any of `values` is not finite, otherwise leaves it
// unchanged.
struct FiniteCheck {
  const float* values;
  std::int64_t count;
  StepScalars* scalars;
};

// One parameter in device memory, and the inputs of its update.
struct ParameterOnCard {
  static constexpr int kMaxSlots = 4;
  float* value;
  const float* gradient;
  float* state[kMaxSlots];  // state vectors of the optimiser, such as its momentum
  std::int64_t count;
  const StepScalars* scalars;
  double lr_scale;  // learning-rate multiplier
  bool decay;       // weight decay and LARS scaling apply, see TensorStep
  void* scratch;    // scratch memory of update_scratch_bytes()
};
std::size_t update_scratch_bytes(std::int64_t count) noexcept;

// Function that updates one parameter by one step of an optimiser.
using Update = std::function<void(const ParameterOnCard&, Stream&)>;

// The GPU update of one optimiser, which has the same name in train/optim's table.
struct UpdateRow {
  std::string_view name;
  Update (*make)(const ChosenOptions& chosen);
};

// Update of running statistics: value = (1 - momentum) * value + momentum * scale * sum.
struct Statistic {
  float* value;
  const float* sum;
  std::int64_t count;
  const StepScalars* scalars;
  double momentum, scale;
};

// Update of a tensor's moving average after a step, see Averaging.
struct Average {
  float* value;
  float* average;
  std::int64_t count;
  const StepScalars* scalars;
  Averaging how;
};

struct Table {
  const char* name;  // name of the implementation: "cuda", or "host" in tests
  void (*convert)(const Convert&, Stream&);
  void (*normalize)(const Normalize&, Stream&);
  void (*pack_filter)(const PackFilter&, Stream&);
  void (*unpack_filter)(const UnpackFilter&, Stream&);
  void (*add_bias)(const AddBias&, Stream&);
  void (*bias_gradient)(const BiasGradient&, Stream&);
  void (*batch_norm)(const BatchNorm&, Stream&);
  void (*batch_norm_inference)(const BatchNorm&, Stream&);
  void (*batch_norm_backward)(const BatchNormBackward&, Stream&);
  void (*relu)(const Elementwise&, Stream&);  // forward pass of ReLU: y = max(a, 0); NaN stays NaN
  // Backward pass of ReLU: a is y of the forward pass, b is dy; y becomes dx.
  void (*relu_backward)(const Elementwise&, Stream&);
  void (*add)(const Elementwise&, Stream&);
  void (*max_pool)(const Pool&, Stream&);
  void (*max_pool_backward)(const Pool&, Stream&);
  void (*avg_pool)(const Pool&, Stream&);
  void (*avg_pool_backward)(const Pool&, Stream&);
  void (*loss)(const Loss&, Stream&);
  void (*loss_backward)(const Loss&, Stream&);
  void (*direct_convolution)(const DirectConvolution&, Stream&);
  void (*finite_check)(const FiniteCheck&, Stream&);
  std::span<const UpdateRow> updates;
  void (*statistic)(const Statistic&, Stream&);
  void (*average)(const Average&, Stream&);
  void (*group_norm)(const GroupNorm&, Stream&);
  void (*group_norm_backward)(const GroupNormBackward&, Stream&);
  void (*activation)(const Activate&, Stream&);
  void (*activation_backward)(const Activate&, Stream&);
  void (*scale)(const Scale&, Stream&);
  void (*scale_factor_gradient)(const ScaleFactorGradient&, Stream&);
  void (*copy_channels)(const CopyChannels&, Stream&);
  void (*dropout)(const Dropout&, Stream&);
  // Copies channels, and writes 0 after them in each row of `to`.
  void (*pad_channels)(const CopyChannels&, Stream&);
  void (*batch_norm_statistics)(const BatchNorm&, Stream&);
  void (*batch_norm_sums)(const BatchNormBackward&, Stream&);
  void (*batch_norm_input_gradient)(const BatchNormBackward&, Stream&);
  void (*direct_matmul)(const DirectMatmul&, Stream&);
  // Attention: moves heads from token rows to one matrix for each head.
  void (*split_heads)(const Heads&, Stream&);
  // Attention: moves heads from their matrices back to token rows.
  void (*join_heads)(const Heads&, Stream&);
  void (*softmax)(const Softmax&, Stream&);
  void (*softmax_backward)(const SoftmaxBackward&, Stream&);
  void (*sigmoid_loss)(const SigmoidLoss&, Stream&);
  void (*sigmoid_loss_backward)(const SigmoidLoss&, Stream&);
  void (*local_response_norm)(const LocalResponseNorm&, Stream&);
  void (*local_response_norm_backward)(const LocalResponseNorm&, Stream&);
  void (*barlow_twins)(const BarlowTwins&, Stream&);
  void (*barlow_twins_backward)(const BarlowTwins&, Stream&);
};

}  // namespace winnow::train::cudnn::kernels
