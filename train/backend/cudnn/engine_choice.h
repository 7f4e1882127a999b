#pragma once

#include <cstdint>
#include <span>

#include "train/backend/cudnn/device.h"

namespace winnow::train::cudnn {

// What cuDNN says of the numbers an engine's kernels compute with.
enum class EngineNote : std::uint8_t {
  kTensorCore,        // for f32: operands rounded to tf32
  kDownConverts,      // operands are rounded further than to tf32
  kReducedReduction,  // sums are kept in less than f32
  kFft,
  kNondeterministic,
  kWinograd,
};

// Whether an engine with these notes computes as `description` asks. Transforms (FFT, Winograd)
// never do: their errors grow with the image's values, not with those of the products.
bool may_compute(const ConvolutionDescription& description, std::span<const EngineNote> notes);

// A convolution as cuDNN takes it: extents in the order N C H W (filters K C R S) and the distances
// between neighbours in each.
struct TensorLayout {
  std::int64_t extents[4];
  std::int64_t strides[4];
};
TensorLayout nhwc(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) noexcept;

}  // namespace winnow::train::cudnn
