#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace winnow::comm {

// One move of a collective, as seen by one rank, over elements [begin, begin + count) of a buffer:
// the one all of an all-reduce is in, or of an all-to-all what goes out (sends) or comes in.
struct Step {
  enum class Kind : std::uint8_t {
    kSend,         // the range to peer
    kReceiveAdd,   // peer's range is added to ours
    kReceiveCopy,  // peer's range replaces ours
  };
  Kind kind;
  int peer;
  // Steps of one chain run by ascending round; steps of one round run together, their additions in
  // list order. Chains are independent and touch disjoint ranges; a message is matched by (sender,
  // receiver, chain) and, within these, by order.
  int chain;
  int round;
  std::size_t begin;
  std::size_t count;

  friend bool operator==(const Step&, const Step&) = default;
};

struct ScheduleOptions {
  int colors = 4;                         // trees of the multi-colour schedule; clamped to ranks
  std::size_t segment_elements = 32'768;  // pipelining grain inside a colour; longest message
};

// A generator is a pure function: this rank's steps, ordered by chain, then round. Empty for one
// rank or no elements. Requires 0 <= rank < ranks.
struct Schedule {
  std::string_view name;
  std::string_view what;
  std::vector<Step> (*all_reduce)(int rank, int ranks, std::size_t count,
                                  const ScheduleOptions& options);
};

std::span<const Schedule> schedules();
const Schedule& find_schedule(std::string_view name);  // UsageError naming the known ones

// Multi-colour all-reduce (Sreedhar et al. 2017, arXiv:1711.00705): the buffer is cut into `colors`
// parts; part c is summed up and handed down its own tree, and the trees' interior ranks are
// disjoint, so that no rank or link carries everything. Segments of a colour are pipelined.
std::vector<Step> multicolor_all_reduce(int rank, int ranks, std::size_t count,
                                        const ScheduleOptions& options);

// The tree of one colour: parent of each rank, -1 for the root. Interior ranks of different colours
// are disjoint whenever colors <= ranks. Exposed for tests and cost models.
struct ColorTree {
  int root;
  std::vector<int> parent;
  std::vector<std::vector<int>> children;  // in the order their contributions are added
};
ColorTree multicolor_tree(int color, int colors, int ranks);

// Ring all-reduce: reduce-scatter and all-gather round the ring; bandwidth-optimal, 2(p-1) hops.
std::vector<Step> ring_all_reduce(int rank, int ranks, std::size_t count,
                                  const ScheduleOptions& options);

}  // namespace winnow::comm
