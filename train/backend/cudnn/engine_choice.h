#pragma once

#include <cstdint>
#include <span>

#include "train/backend/cudnn/device.h"

namespace winnow::train::cudnn {

// cuDNN's notes about the numerics of an engine (kernel).
enum class EngineNote : std::uint8_t {
  kTensorCore,        // uses tensor cores; for f32, operands are rounded to tf32
  kDownConverts,      // operands are rounded to fewer bits than tf32 has
  kReducedReduction,  // sums are kept in a type with fewer bits than f32
  kFft,
  kNondeterministic,
  kWinograd,
};

// Whether an engine with these notes computes as precisely and deterministically as `description`
// requests.
// Transforms (FFT, Winograd) never do: their errors grow with the values of the whole image, not
// with those of the products.
bool may_compute(const ConvolutionDescription& description, std::span<const EngineNote> notes);

// A tensor as cuDNN describes it: extents in the order N C H W (filters K C R S), and the stride of
// each in elements.
struct TensorLayout {
  std::int64_t extents[4];
  std::int64_t strides[4];
};
TensorLayout nhwc(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) noexcept;

}  // namespace winnow::train::cudnn
