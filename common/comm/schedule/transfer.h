#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace winnow::comm {

// One step of a collective on one rank: elements [begin, begin + count) of a buffer are sent to
// `peer` or received from it.
//
// Buffer    An all-reduce has one; an all-to-all sends from one and receives into another.
// Chains    Sequences of transfers that do not depend on each other and access disjoint ranges.
// Rounds    Transfers of one chain run by ascending round. Those of one round run concurrently; its
//           additions run after all its messages, in list order.
// Matching  A message is identified by (sender, receiver, chain), and among equal ones by its
//           position in order.
struct Transfer {
  enum class Kind : std::uint8_t {
    kSend,         // sends the range to the peer
    kReceiveAdd,   // adds the peer's range to this rank's range
    kReceiveCopy,  // replaces this rank's range by the peer's range
  };
  Kind kind;
  int peer;
  int chain;
  int round;
  std::size_t begin;
  std::size_t count;

  friend bool operator==(const Transfer&, const Transfer&) = default;
};

// How many chains of an all-reduce a rank runs at once: enough to fill a tree of depth 4 up and
// down for four colours, few enough that the receive buffers (at most a segment per child) stay in
// a cache.
inline constexpr std::size_t kChainsAtOnce = 32;

// On which machine each rank is. A schedule can use it to keep traffic within machines.
struct Placement {
  int rank = 0;              // this rank
  std::vector<int> node_of;  // machine of each rank; numbered from 0 in order of lowest ranks

  int ranks() const noexcept { return static_cast<int>(node_of.size()); }
  int machines() const noexcept {
    return node_of.empty() ? 0 : *std::max_element(node_of.begin(), node_of.end()) + 1;
  }
  std::vector<int> ranks_of_machine() const {  // ranks on the machine of `rank`, ascending
    std::vector<int> out;
    for (int r = 0; r < ranks(); ++r) {
      const auto at = static_cast<std::size_t>(r);
      if (node_of[at] == node_of[static_cast<std::size_t>(rank)]) out.push_back(r);
    }
    return out;
  }
};

}  // namespace winnow::comm
