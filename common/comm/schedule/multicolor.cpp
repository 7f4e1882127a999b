#include "common/comm/schedule/multicolor.h"

#include <algorithm>

#include "common/comm/schedule/arguments.h"
#include "common/error.h"

namespace winnow::comm {

namespace {

constexpr std::size_t kPartGrain = 16;  // elements: parts begin on cache lines of floats

// One rank's place in one colour's tree.
struct Place {
  int parent;
  std::vector<int> children;
};

// Sum up, then hand down. The children's sums arrive together and are added in the tree's order.
void append_chain(const Place& place, int chain, std::size_t begin, std::size_t count,
                  std::vector<Transfer>& transfers) {
  int round = 0;
  const auto to_all_children = [&](Transfer::Kind kind) {
    for (const int child : place.children) {
      transfers.push_back({kind, child, chain, round, begin, count});
    }
    if (!place.children.empty()) ++round;
  };
  to_all_children(Transfer::Kind::kReceiveAdd);
  if (place.parent >= 0) {
    transfers.push_back({Transfer::Kind::kSend, place.parent, chain, round++, begin, count});
    transfers.push_back({Transfer::Kind::kReceiveCopy, place.parent, chain, round++, begin, count});
  }
  to_all_children(Transfer::Kind::kSend);
}

}  // namespace

// Labels 0 .. interior-1 may have children; label l of colour c is rank l + c * interior (mod
// ranks). Since colors * interior <= ranks, the rotation keeps the colours' interiors apart. A rank
// in the interior of its one colour moves its children's data and its parent's; the root has no
// parent and takes one child more, which evens out the load: with ranks mod colors in {0, 1, 2} no
// rank sends or receives more than twice the buffer. Labels are attached breadth-first, so trees
// are shallow.
ColorTree multicolor_tree(int color, int colors, int ranks) {
  if (ranks < 1 || colors < 1 || color < 0 || color >= std::min(colors, ranks)) {
    throw Error("there is no tree of colour " + std::to_string(color) + " of " +
                std::to_string(colors) + " over " + std::to_string(ranks) + " ranks");
  }
  const int interior = std::max(1, std::min(ranks / std::min(colors, ranks), ranks - 1));
  const int inner_children = ranks > 2 ? (ranks - 2 + interior - 1) / interior : 0;
  const auto rank_of = [&](int label) { return (label + color * interior) % ranks; };

  ColorTree tree;
  tree.root = rank_of(0);
  tree.parent.assign(static_cast<std::size_t>(ranks), -1);
  tree.children.resize(static_cast<std::size_t>(ranks));
  int parent = 0;  // the first label with room; all before it are full
  int room = inner_children + 1;
  for (int label = 1; label < ranks; ++label) {
    if (room == 0) {
      ++parent;
      room = inner_children;
    }
    --room;
    tree.parent[static_cast<std::size_t>(rank_of(label))] = rank_of(parent);
    tree.children[static_cast<std::size_t>(rank_of(parent))].push_back(rank_of(label));
  }
  return tree;
}

std::vector<Transfer> multicolor_all_reduce(const Placement& placement, std::size_t count,
                                            const ScheduleOptions& options) {
  const int rank = placement.rank;
  const int ranks = placement.ranks();
  check_arguments(rank, ranks, options);
  if (ranks == 1 || count == 0) return {};
  const auto colors = static_cast<std::size_t>(std::min(options.colors, ranks));
  const std::size_t part = divide_up(divide_up(count, colors), kPartGrain) * kPartGrain;
  const std::size_t segments = divide_up(std::min(part, count), options.segment_elements);
  checked_chains(segments * colors);

  std::vector<Place> places;
  for (std::size_t color = 0; color < colors; ++color) {
    ColorTree tree = multicolor_tree(static_cast<int>(color), options.colors, ranks);
    const auto at = static_cast<std::size_t>(rank);
    places.push_back({tree.parent[at], std::move(tree.children[at])});
  }

  std::vector<Transfer> transfers;
  for (std::size_t segment = 0; segment < segments; ++segment) {
    for (std::size_t color = 0; color < colors; ++color) {
      const std::size_t begin = color * part + segment * options.segment_elements;
      const std::size_t end =
          std::min({begin + options.segment_elements, (color + 1) * part, count});
      if (begin >= end) continue;
      append_chain(places[color], static_cast<int>(segment * colors + color), begin, end - begin,
                   transfers);
    }
  }
  return transfers;
}

}  // namespace winnow::comm
