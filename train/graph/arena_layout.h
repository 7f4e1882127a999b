#pragma once

#include <cstddef>
#include <vector>

#include "train/graph/graph.h"

namespace winnow::train {

// Where the computed values of a graph live: one arena, offsets fixed before the first step, values
// with disjoint lifetimes sharing bytes. Inputs, parameters, buffers and graph outputs live
// outside.
struct ArenaLayout {
  static constexpr std::size_t kOutside = static_cast<std::size_t>(-1);
  static constexpr std::size_t kAlignment = 64;
  std::vector<std::size_t> offsets;  // per value, bytes; kOutside
  std::size_t arena_bytes = 0;
  std::size_t lower_bound_bytes = 0;  // the largest sum of live values at one node
};
ArenaLayout lay_out_arena(const Graph& graph, DType compute);

}  // namespace winnow::train
