#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/comm/schedule/transfer.h"

namespace winnow::comm {

// The position of one rank in a tree of ranks.
struct TreePlace {
  int parent = -1;            // -1 for the root
  std::vector<int> children;  // ranks, in the order in which their sums are added
};

// The transfers of a rank for an all-reduce along trees. The buffer is divided into places.size()
// equal parts; part c is summed and distributed along the tree in which the rank has the position
// places[c].
//
// Segments  Each segment of a part is a chain of its own. Those of all parts alternate, so that one
//           part is summed (upwards) while others are distributed (downwards).
// Traffic   A rank with c children in all trees together sends at most (1 + c / parts) of the
//           buffer, and receives as much.
// Errors    UsageError for too many segments.
std::vector<Transfer> tree_all_reduce(std::span<const TreePlace> places, std::size_t count,
                                      std::size_t segment_elements);

}  // namespace winnow::comm
