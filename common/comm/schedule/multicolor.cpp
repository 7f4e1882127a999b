#include "common/comm/schedule/multicolor.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "common/comm/schedule/arguments.h"
#include "common/error.h"

namespace winnow::comm {

namespace {

// Labels 0 .. interior-1 have children, attached breadth-first, so that trees are shallow. Label 0,
// the root, has no parent; if the number of children follows from the colours, it takes one more,
// which balances the load.
struct Shape {
  Shape(int ranks, int colors, int most)
      : interior(most > 0 ? std::max(1, divide(ranks - 1, most))
                          : std::max(1, std::min(ranks / colors, ranks - 1))),
        children(most > 0 ? most : divide(std::max(0, ranks - 2), interior)),
        of_root(most > 0 ? most : children + 1) {}

  int parent(int label) const {
    if (label == 0) return -1;
    return label <= of_root ? 0 : 1 + (label - of_root - 1) / children;
  }
  int first_child(int label) const { return label == 0 ? 1 : of_root + (label - 1) * children + 1; }
  int end_child(int label) const { return first_child(label) + (label == 0 ? of_root : children); }

  int interior;
  int children;
  int of_root;

 private:
  static int divide(int value, int by) { return (value + by - 1) / by; }
};

}  // namespace

// Label l of a colour is rank l + shift. While colors * interior <= ranks, the shifts keep the
// inner nodes of the colours disjoint; otherwise they spread them evenly.
TreePlace multicolor_place(int rank, int ranks, int color, const ScheduleOptions& options) {
  const int colors = std::min(options.colors, ranks);
  if (colors < 1 || color < 0 || color >= colors || rank < 0 || rank >= ranks ||
      options.children < 0) {
    throw Error("tree " + std::to_string(color) + " of " + std::to_string(options.colors) +
                " over " + std::to_string(ranks) + " ranks does not exist, or does not have rank " +
                std::to_string(rank));
  }
  const Shape shape(ranks, colors, options.children);
  const bool disjoint = std::int64_t{colors} * shape.interior <= ranks;
  const int shift =
      disjoint ? color * shape.interior : static_cast<int>(std::int64_t{color} * ranks / colors);
  const auto rank_of = [&](int label) { return (label + shift) % ranks; };
  const int label = (rank - shift + ranks) % ranks;

  TreePlace place;
  if (label > 0) place.parent = rank_of(shape.parent(label));
  if (label >= shape.interior) return place;
  for (int child = shape.first_child(label); child < std::min(shape.end_child(label), ranks);
       ++child) {
    place.children.push_back(rank_of(child));
  }
  return place;
}

std::vector<Transfer> multicolor_all_reduce(const Placement& placement, std::size_t count,
                                            const ScheduleOptions& options) {
  const int ranks = placement.ranks();
  check_arguments(placement.rank, ranks, options);
  if (ranks == 1 || count == 0) return {};
  std::vector<TreePlace> places;
  for (int color = 0; color < std::min(options.colors, ranks); ++color) {
    places.push_back(multicolor_place(placement.rank, ranks, color, options));
  }
  return tree_all_reduce(places, count, options.segment_elements);
}

}  // namespace winnow::comm
