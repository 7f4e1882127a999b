#pragma once

#include <cstddef>
#include <vector>

#include "common/comm/schedule/schedule.h"

namespace winnow::comm {

// Multi-colour all-reduce: the buffer is cut into `colors` parts, and part c is summed up and
// handed down its own tree. The trees' interior ranks are disjoint, so that no rank or link carries
// everything. Segments of a colour are pipelined.
//
// Source  Sreedhar et al. 2017, arXiv:1711.00705
std::vector<Transfer> multicolor_all_reduce(const Placement& placement, std::size_t count,
                                            const ScheduleOptions& options);

// The tree of one colour. Interior ranks of different colours are disjoint whenever colors <=
// ranks. Exposed for tests and cost models.
struct ColorTree {
  int root;
  std::vector<int> parent;                 // of each rank; -1 for the root
  std::vector<std::vector<int>> children;  // in the order their contributions are added
};
ColorTree multicolor_tree(int color, int colors, int ranks);

}  // namespace winnow::comm
