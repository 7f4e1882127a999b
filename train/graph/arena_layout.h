#pragma once

#include <cstddef>
#include <vector>

#include "train/graph/graph.h"

namespace winnow::train {

// Memory layout of a graph's computed values: one arena, with offsets fixed before the first step.
// Values with disjoint lifetimes share bytes. Inputs, parameters, buffers and graph outputs are
// outside.
struct ArenaLayout {
  static constexpr std::size_t kOutside = static_cast<std::size_t>(-1);
  static constexpr std::size_t kAlignment = 64;
  std::vector<std::size_t> offsets;  // for each value, in bytes; or kOutside
  std::size_t arena_bytes = 0;
  std::size_t lower_bound_bytes = 0;  // the largest sum of live values at any node
};
ArenaLayout lay_out_arena(const Graph& graph, DType compute);

}  // namespace winnow::train
