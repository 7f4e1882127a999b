#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace winnow::comm {

// One move of a collective as one rank sees it: elements [begin, begin + count) of a buffer go to
// `peer` or come from it.
//
// Buffer    an all-reduce has one; an all-to-all sends from one and receives into another
// Chains    independent of each other; they touch disjoint ranges
// Rounds    transfers of one chain run by ascending round; those of one round run together, and its
//           additions after all of its messages, in list order
// Matching  a message belongs to (sender, receiver, chain), and within these to its place in order
struct Transfer {
  enum class Kind : std::uint8_t {
    kSend,         // the range to peer
    kReceiveAdd,   // peer's range is added to ours
    kReceiveCopy,  // peer's range replaces ours
  };
  Kind kind;
  int peer;
  int chain;
  int round;
  std::size_t begin;
  std::size_t count;

  friend bool operator==(const Transfer&, const Transfer&) = default;
};

// Chains of an all-reduce that a rank has under way at once: enough to fill a tree of depth 4 up
// and down for four colours, few enough that the receive buffers (at most a segment per child) stay
// in a cache.
inline constexpr std::size_t kChainsAtOnce = 32;

// Where the ranks are. A schedule may keep traffic inside machines by it.
struct Placement {
  int rank = 0;              // this one
  std::vector<int> node_of;  // [r]: machine of rank r, numbered from 0 in order of lowest ranks

  int ranks() const noexcept { return static_cast<int>(node_of.size()); }
  int machines() const noexcept {
    return node_of.empty() ? 0 : *std::max_element(node_of.begin(), node_of.end()) + 1;
  }
  std::vector<int> ranks_of_machine() const {  // of this one; ascending
    std::vector<int> out;
    for (int r = 0; r < ranks(); ++r) {
      const auto at = static_cast<std::size_t>(r);
      if (node_of[at] == node_of[static_cast<std::size_t>(rank)]) out.push_back(r);
    }
    return out;
  }
};

}  // namespace winnow::comm
