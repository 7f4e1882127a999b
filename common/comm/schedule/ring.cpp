#include "common/comm/schedule/ring.h"

#include <algorithm>

#include "common/comm/schedule/arguments.h"

namespace winnow::comm {

// The buffer is divided into chains of at most ranks * segment_elements, each with its own trip
// around the ring, so that the additions of one chain overlap with the messages of others. A chain
// has one block per rank. After ranks - 1 rounds of adding, rank r has the finished block r + 1; as
// many rounds of copying distribute the finished blocks.
std::vector<Transfer> ring_all_reduce(const Placement& placement, std::size_t count,
                                      const ScheduleOptions& options) {
  const int rank = placement.rank;
  const int ranks = placement.ranks();
  check_arguments(rank, ranks, options);
  if (ranks == 1 || count == 0) return {};
  const auto blocks = static_cast<std::size_t>(ranks);
  const int chains = checked_chains(divide_up(divide_up(count, blocks), options.segment_elements));
  const std::size_t span = divide_up(count, static_cast<std::size_t>(chains));
  const int next = (rank + 1) % ranks;
  const int previous = (rank + ranks - 1) % ranks;

  std::vector<Transfer> transfers;
  for (int chain = 0; chain < chains; ++chain) {
    const std::size_t begin = static_cast<std::size_t>(chain) * span;
    const std::size_t end = std::min(begin + span, count);
    if (begin >= end) break;
    const std::size_t block = divide_up(end - begin, blocks);
    const auto append = [&](Transfer::Kind kind, int peer, int round, int index) {
      const auto wrapped = static_cast<std::size_t>((index + 2 * ranks) % ranks);
      const std::size_t from = std::min(begin + wrapped * block, end);
      const std::size_t to = std::min(from + block, end);
      if (from < to) transfers.push_back({kind, peer, chain, round, from, to - from});
    };
    for (int turn = 0; turn < ranks - 1; ++turn) {
      append(Transfer::Kind::kSend, next, turn, rank - turn);
      append(Transfer::Kind::kReceiveAdd, previous, turn, rank - turn - 1);
    }
    for (int turn = 0; turn < ranks - 1; ++turn) {
      append(Transfer::Kind::kSend, next, ranks - 1 + turn, rank - turn + 1);
      append(Transfer::Kind::kReceiveCopy, previous, ranks - 1 + turn, rank - turn);
    }
  }
  return transfers;
}

}  // namespace winnow::comm
