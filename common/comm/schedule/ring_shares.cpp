#include "common/comm/schedule/ring_shares.h"

#include "common/comm/schedule/shares.h"

namespace winnow::comm {

namespace {

// In its first round rank r sends the part of rank r - `first`, then always what it received
// before.
std::vector<Transfer> round_the_ring(const Placement& placement, const ShareChains& parts,
                                     int first, Transfer::Kind receive) {
  const int rank = placement.rank;
  const int ranks = placement.ranks();
  std::vector<Transfer> transfers;
  for (int chain = 0; chain < parts.chains(); ++chain) {
    const auto append = [&](Transfer::Kind kind, int peer, int turn, int whose) {
      const Share part = parts.part(whose, chain);
      if (part.count > 0) transfers.push_back({kind, peer, chain, turn, part.begin, part.count});
    };
    for (int turn = 0; turn < ranks - 1; ++turn) {
      const int sent = rank - first - turn;
      append(Transfer::Kind::kSend, (rank + 1) % ranks, turn, sent);
      append(receive, (rank + ranks - 1) % ranks, turn, sent - 1);
    }
  }
  return transfers;
}

}  // namespace

std::vector<Transfer> ring_reduce_scatter(const Placement& placement, std::size_t count,
                                          const ScheduleOptions& options) {
  return round_the_ring(placement, ShareChains(placement, count, options), 1,
                        Transfer::Kind::kReceiveAdd);
}

std::vector<Transfer> ring_all_gather(const Placement& placement, std::size_t count,
                                      const ScheduleOptions& options) {
  return round_the_ring(placement, ShareChains(placement, count, options), 0,
                        Transfer::Kind::kReceiveCopy);
}

}  // namespace winnow::comm
