#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace winnow::comm {

// One move of a collective as seen by one rank: elements [begin, begin + count) of a buffer go to
// `peer` or come from it.
//
// Buffer    An all-reduce has one; an all-to-all sends from one and receives into another.
// Chains    Are independent and access disjoint ranges.
// Rounds    Transfers of one chain run by ascending round. Those of one round run concurrently; its
//           additions run after all its messages, in list order.
// Matching  A message is identified by (sender, receiver, chain), and among equal ones by its
//           position in order.
struct Transfer {
  enum class Kind : std::uint8_t {
    kSend,         // sends the range to peer
    kReceiveAdd,   // adds peer's range to ours
    kReceiveCopy,  // replaces our range by peer's
  };
  Kind kind;
  int peer;
  int chain;
  int round;
  std::size_t begin;
  std::size_t count;

  friend bool operator==(const Transfer&, const Transfer&) = default;
};

// Number of an all-reduce's chains that a rank runs at once: enough to fill a tree of depth 4 up
// and down for four colours, few enough that the receive buffers (at most a segment per child) stay
// in a cache.
inline constexpr std::size_t kChainsAtOnce = 32;

// The machines of the ranks. A schedule can use it to keep traffic within machines.
struct Placement {
  int rank = 0;              // this rank
  std::vector<int> node_of;  // [r]: machine of rank r, numbered from 0 in order of lowest ranks

  int ranks() const noexcept { return static_cast<int>(node_of.size()); }
  int machines() const noexcept {
    return node_of.empty() ? 0 : *std::max_element(node_of.begin(), node_of.end()) + 1;
  }
  std::vector<int> ranks_of_machine() const {  // ranks of this rank's machine; ascending
    std::vector<int> out;
    for (int r = 0; r < ranks(); ++r) {
      const auto at = static_cast<std::size_t>(r);
      if (node_of[at] == node_of[static_cast<std::size_t>(rank)]) out.push_back(r);
    }
    return out;
  }
};

}  // namespace winnow::comm
