#include "common/comm/schedule/double_binary_tree.h"

#include <bit>

#include "common/comm/schedule/arguments.h"

namespace winnow::comm {

namespace {

// Labels 1 .. ranks-1 in the in-order numbering of a binary tree, below label 0. A label's height
// is that of its lowest set bit, so all odd ones are leaves.
int parent_of(int label, int ranks) {
  if (label == 0) return -1;
  const int bit = label & -label;
  const int above = (label ^ bit) | (bit << 1);
  return above < ranks ? above : label ^ bit;
}

std::vector<int> children_of(int label, int ranks) {
  if (label == 0) {
    if (ranks == 1) return {};
    return {static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks - 1)))};
  }
  std::vector<int> children;
  int step = (label & -label) >> 1;
  if (step == 0) return children;
  children.push_back(label - step);
  // If the tree ends on this side, the highest remaining subtree is attached here.
  while (step > 0 && label + step >= ranks) step >>= 1;
  if (step > 0) children.push_back(label + step);
  return children;
}

}  // namespace

// The second tree is the first one mirrored or, for an odd number of ranks, shifted by one: its
// leaves are the other ranks.
TreePlace double_binary_tree_place(int rank, int ranks, int tree) {
  const bool mirrored = ranks % 2 == 0;
  const auto moved = [&](int from, int by) {
    if (tree == 0) return from;
    return mirrored ? ranks - 1 - from : (from + by + ranks) % ranks;
  };
  const int label = moved(rank, -1);
  TreePlace place;
  if (label > 0) place.parent = moved(parent_of(label, ranks), 1);
  for (const int child : children_of(label, ranks)) place.children.push_back(moved(child, 1));
  return place;
}

std::vector<Transfer> double_binary_tree_all_reduce(const Placement& placement, std::size_t count,
                                                    const ScheduleOptions& options) {
  const int ranks = placement.ranks();
  check_arguments(placement.rank, ranks, options);
  if (ranks == 1 || count == 0) return {};
  const std::vector<TreePlace> places{double_binary_tree_place(placement.rank, ranks, 0),
                                      double_binary_tree_place(placement.rank, ranks, 1)};
  return tree_all_reduce(places, count, options.segment_elements);
}

}  // namespace winnow::comm
