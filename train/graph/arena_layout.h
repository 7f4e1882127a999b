#pragma once

#include <cstddef>
#include <vector>

#include "train/graph/graph.h"

namespace winnow::train {

// Memory layout of a graph's computed values: one arena (memory block), with offsets fixed before
// the first step. Values with disjoint lifetimes share bytes. Inputs, parameters, buffers and graph
// outputs are not in the arena.
struct ArenaLayout {
  static constexpr std::size_t kOutside = static_cast<std::size_t>(-1);
  static constexpr std::size_t kAlignment = 64;
  // For each value, its offset in the arena in bytes; kOutside: not in the arena.
  std::vector<std::size_t> offsets;
  std::size_t arena_bytes = 0;
  // Bytes of live values at the node with the most; no layout needs less.
  std::size_t lower_bound_bytes = 0;
};
ArenaLayout lay_out_arena(const Graph& graph, DType compute);

}  // namespace winnow::train
