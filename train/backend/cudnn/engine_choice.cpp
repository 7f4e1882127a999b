#include "train/backend/cudnn/engine_choice.h"

#include <algorithm>

namespace winnow::train::cudnn {
namespace {

bool is_allowed(const ConvolutionDescription& d, EngineNote note) {
  switch (note) {
    case EngineNote::kTensorCore:
      return d.type != Element::kF32 || d.tf32;
    case EngineNote::kDownConverts:
      return d.type != Element::kF32;  // f32 has nothing below it to round to
    case EngineNote::kNondeterministic:
      return !d.deterministic;
    case EngineNote::kReducedReduction:
    case EngineNote::kFft:
    case EngineNote::kWinograd:
      return false;
  }
  return false;
}

}  // namespace

bool may_compute(const ConvolutionDescription& description, std::span<const EngineNote> notes) {
  return std::all_of(notes.begin(), notes.end(),
                     [&](EngineNote note) { return is_allowed(description, note); });
}

TensorLayout nhwc(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) noexcept {
  return {.extents = {n, c, h, w}, .strides = {c * h * w, 1, c * w, c}};
}

}  // namespace winnow::train::cudnn
