#include "common/comm/schedule/direct_shares.h"

#include "common/comm/schedule/shares.h"

namespace winnow::comm {

namespace {

constexpr int kMessagesAtOnce = 8;

// Sends the receiver's part, or the sender's.
enum class Whose { kReceivers, kSenders };

std::vector<Transfer> to_each(const Placement& placement, const ShareChains& parts, Whose whose,
                              Transfer::Kind receive) {
  const int rank = placement.rank;
  const int ranks = placement.ranks();
  std::vector<Transfer> transfers;
  for (int chain = 0; chain < parts.chains(); ++chain) {
    for (int distance = 1; distance < ranks; ++distance) {
      const int to = (rank + distance) % ranks;
      const int from = (rank + ranks - distance) % ranks;
      const int round = (distance - 1) / kMessagesAtOnce;
      const auto append = [&](Transfer::Kind kind, int peer, int owner) {
        const Share part = parts.part(owner, chain);
        if (part.count > 0) transfers.push_back({kind, peer, chain, round, part.begin, part.count});
      };
      append(Transfer::Kind::kSend, to, whose == Whose::kReceivers ? to : rank);
      append(receive, from, whose == Whose::kReceivers ? rank : from);
    }
  }
  return transfers;
}

}  // namespace

std::vector<Transfer> direct_reduce_scatter(const Placement& placement, std::size_t count,
                                            const ScheduleOptions& options) {
  return to_each(placement, ShareChains(placement, count, options), Whose::kReceivers,
                 Transfer::Kind::kReceiveAdd);
}

std::vector<Transfer> direct_all_gather(const Placement& placement, std::size_t count,
                                        const ScheduleOptions& options) {
  return to_each(placement, ShareChains(placement, count, options), Whose::kSenders,
                 Transfer::Kind::kReceiveCopy);
}

}  // namespace winnow::comm
