#include "train/backend/weights.h"

#include <algorithm>
#include <bit>

namespace winnow::train {

// The largest biased exponent decides, compared as integers: no branch in the loop.
bool all_finite(std::span<const float> values) noexcept {
  constexpr std::uint32_t kExponent = 0x7f80'0000;
  std::uint32_t largest = 0;
  for (const float v : values)
    largest = std::max(largest, std::bit_cast<std::uint32_t>(v) & kExponent);
  return largest < kExponent;
}

std::vector<ValueId> weights_read_by(const Graph& graph) {
  std::vector<bool> read(graph.values.size(), false);
  for (const Node& node : graph.nodes) {
    for (const ValueId id : node.inputs) read[static_cast<std::size_t>(id)] = true;
  }
  std::vector<ValueId> found;
  for (std::size_t v = 0; v < graph.values.size(); ++v) {
    const ValueKind kind = graph.values[v].kind;
    const bool weight = kind == ValueKind::kParameter || kind == ValueKind::kBuffer;
    if (weight && read[v]) found.push_back(static_cast<ValueId>(v));
  }
  return found;
}

}  // namespace winnow::train
