#include "common/comm/schedule/tree.h"

#include <algorithm>

#include "common/comm/schedule/arguments.h"

namespace winnow::comm {

namespace {

constexpr std::size_t kPartGrain = 16;  // in elements: parts begin at cache lines

// Sums up, then distributes. The children's sums arrive together and are added in the tree's order.
void append_chain(const TreePlace& place, int chain, std::size_t begin, std::size_t count,
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

std::vector<Transfer> tree_all_reduce(std::span<const TreePlace> places, std::size_t count,
                                      std::size_t segment_elements) {
  const std::size_t parts = places.size();
  const std::size_t part = divide_up(divide_up(count, parts), kPartGrain) * kPartGrain;
  const std::size_t segments = divide_up(std::min(part, count), segment_elements);
  checked_chains(segments * parts);

  std::vector<Transfer> transfers;
  for (std::size_t segment = 0; segment < segments; ++segment) {
    for (std::size_t at = 0; at < parts; ++at) {
      const std::size_t begin = at * part + segment * segment_elements;
      const std::size_t end = std::min({begin + segment_elements, (at + 1) * part, count});
      if (begin >= end) continue;
      append_chain(places[at], static_cast<int>(segment * parts + at), begin, end - begin,
                   transfers);
    }
  }
  return transfers;
}

}  // namespace winnow::comm
