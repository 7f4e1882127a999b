#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/comm/schedule/transfer.h"

namespace winnow::comm {

// One rank's position in a tree of ranks.
struct TreePlace {
  int parent = -1;            // -1 for the root
  std::vector<int> children;  // in the order in which their sums are added
};

// This rank's transfers if part c of the buffer, of places.size() equal parts, is summed and
// distributed along the tree in which the rank has the position places[c].
//
// Segments  Of a part are separate chains; those of all parts alternate, so that the upward phase
//           of one overlaps with the downward phase of others.
// Traffic   A rank with c children in all trees together sends at most (1 + c / parts) of the
//           buffer, and receives as much.
// Errors    UsageError for too many segments.
std::vector<Transfer> tree_all_reduce(std::span<const TreePlace> places, std::size_t count,
                                      std::size_t segment_elements);

}  // namespace winnow::comm
