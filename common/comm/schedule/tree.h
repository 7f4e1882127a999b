#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/comm/schedule/transfer.h"

namespace winnow::comm {

// One rank's place in a tree of ranks.
struct TreePlace {
  int parent = -1;            // of the root: -1
  std::vector<int> children;  // in the order in which their sums are added
};

// This rank's transfers where part c of the buffer, of places.size() equal parts, is summed up and
// handed down the tree in which it has places[c].
//
// Segments  of a part are chains of their own, those of all parts by turns, so that the way up of
//           one overlaps the way down of others
// Traffic   a rank with c children in all places together sends at most
//           (1 + c / parts) of the buffer, and receives as much
// Throws    UsageError for too many segments
std::vector<Transfer> tree_all_reduce(std::span<const TreePlace> places, std::size_t count,
                                      std::size_t segment_elements);

}  // namespace winnow::comm
