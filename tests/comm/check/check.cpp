#include "tests/comm/check/check.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>

#include "common/comm/schedule/shares.h"
#include "tests/comm/check/check_internal.h"

namespace winnow::comm {

namespace {

// A set of ranks. Sets that are combined must have the same limit `ranks`.
class RankSet {
 public:
  explicit RankSet(std::size_t ranks) : words_((ranks + kDigits - 1) / kDigits) {}

  void insert(std::size_t rank) { words_[rank / kDigits] |= std::uint64_t{1} << rank % kDigits; }

  void insert(const RankSet& other) {
    std::ranges::transform(words_, other.words_, words_.begin(), std::bit_or<>());
  }

  // The lowest rank in both sets, or in this set but not in the other; -1: none.
  int lowest_shared(const RankSet& other) const { return lowest(other, std::bit_and<>()); }
  int lowest_missing_in(const RankSet& other) const {
    return lowest(other, [](std::uint64_t mine, std::uint64_t theirs) { return mine & ~theirs; });
  }

 private:
  static constexpr std::size_t kDigits = std::numeric_limits<std::uint64_t>::digits;

  int lowest(const RankSet& other, const auto& both) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const std::uint64_t found = both(words_[i], other.words_[i]);
      if (found != 0) return static_cast<int>(i * kDigits) + std::countr_zero(found);
    }
    return -1;
  }

  std::vector<std::uint64_t> words_;
};

// Chains may run in any order relative to each other, so their ranges on one rank must not overlap.
std::string check_chains_apart(int rank, std::span<const Transfer> transfers) {
  std::vector<Transfer> sorted(transfers.begin(), transfers.end());
  std::erase_if(sorted, [](const Transfer& transfer) { return transfer.count == 0; });
  std::ranges::stable_sort(sorted, {}, &Transfer::begin);
  // The furthest end so far, and the furthest end of any other chain.
  std::size_t furthest = 0;
  std::size_t second = 0;
  int furthest_chain = std::numeric_limits<int>::min();
  int second_chain = furthest_chain;
  for (const Transfer& transfer : sorted) {
    const bool same = transfer.chain == furthest_chain;
    if (transfer.begin < (same ? second : furthest)) {
      return "rank " + std::to_string(rank) + " touches " +
             range_text(transfer.begin, transfer.count) + " in chain " +
             std::to_string(transfer.chain) + " and in chain " +
             std::to_string(same ? second_chain : furthest_chain);
    }
    const std::size_t end = transfer.begin + transfer.count;
    if (same) {
      furthest = std::max(furthest, end);
    } else if (end > furthest) {
      second = furthest;
      second_chain = furthest_chain;
      furthest = end;
      furthest_chain = transfer.chain;
    } else if (end > second) {
      second = end;
      second_chain = transfer.chain;
    }
  }
  return "";
}

// The contents of each rank's buffer: a set of ranks for each elementary range. Elementary ranges
// are those that no transfer cuts.
class Buffers {
 public:
  Buffers(const TransferLists& transfers_of_rank, std::size_t count) : count_(count) {
    cuts_ = {0, count};
    const int parts = static_cast<int>(transfers_of_rank.size());
    for (int rank = 0; rank < parts; ++rank) cuts_.push_back(share_of(rank, parts, count).begin);
    for (const auto& transfers : transfers_of_rank) {
      for (const Transfer& transfer : transfers) {
        cuts_.push_back(transfer.begin);
        cuts_.push_back(transfer.begin + transfer.count);
      }
    }
    std::ranges::sort(cuts_);
    const auto repeated = std::ranges::unique(cuts_);
    cuts_.erase(repeated.begin(), repeated.end());
    const std::size_t ranks = transfers_of_rank.size();
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      RankSet itself(ranks);
      itself.insert(rank);
      held_.emplace_back(cuts_.size() - 1, itself);
    }
    terms_.resize(ranks);
  }

  // Leaves each rank only its own share.
  void keep_shares() {
    for (std::size_t rank = 0; rank < held_.size(); ++rank) {
      const auto [first, last] = indices_of_share(rank);
      for (std::size_t i = 0; i < held_[rank].size(); ++i) {
        if (i < first || i >= last) held_[rank][i] = RankSet(held_.size());
      }
    }
  }

  // The transfers of one round run at once, its additions afterwards. So no other transfer may
  // touch the target of a copy.
  bool meet(const Transfer& a, const Transfer& b) const {
    const bool copies =
        a.kind == Transfer::Kind::kReceiveCopy || b.kind == Transfer::Kind::kReceiveCopy;
    return copies && overlap(a, b);
  }

  std::string mismatch(int sender, int receiver, const Transfer& send,
                       const Transfer& receive) const {
    if (send.begin == receive.begin && send.count == receive.count) return "";
    return "rank " + std::to_string(sender) + " sends " + range_text(send.begin, send.count) +
           " which rank " + std::to_string(receiver) + " takes for " +
           range_text(receive.begin, receive.count) + ", in " + place_text(send);
  }

  std::string deliver(int sender, int receiver, const Transfer&, const Transfer& receive) {
    const std::vector<RankSet>& source = held_[static_cast<std::size_t>(sender)];
    const auto first = static_cast<std::ptrdiff_t>(index(receive.begin));
    const auto last = static_cast<std::ptrdiff_t>(index(receive.begin + receive.count));
    if (receive.kind == Transfer::Kind::kReceiveAdd) {
      terms_[static_cast<std::size_t>(receiver)].push_back(
          {&receive, {source.begin() + first, source.begin() + last}});
    } else {
      std::copy(source.begin() + first, source.begin() + last,
                held_[static_cast<std::size_t>(receiver)].begin() + first);
    }
    return "";
  }

  std::string end_round(int rank) {
    std::vector<RankSet>& target = held_[static_cast<std::size_t>(rank)];
    std::vector<Term>& terms = terms_[static_cast<std::size_t>(rank)];
    for (const Term& term : terms) {
      std::size_t i = index(term.receive->begin);
      for (const RankSet& added : term.sets) {
        const int twice = target[i].lowest_shared(added);
        if (twice >= 0) {
          return "rank " + std::to_string(rank) + " adds the contribution of rank " +
                 std::to_string(twice) + " a second time, in " + place_text(*term.receive) + ", " +
                 range_text(term.receive->begin, term.receive->count);
        }
        target[i++].insert(added);
      }
    }
    terms.clear();
    return "";
  }

  std::string check_complete(std::span<const int> ranks) const {
    RankSet wanted(held_.size());
    for (const int rank : ranks) wanted.insert(static_cast<std::size_t>(rank));
    for (const int rank : ranks) {
      std::string fault = check_held(static_cast<std::size_t>(rank), 0, cuts_.size() - 1, wanted);
      if (!fault.empty()) return fault;
    }
    return "";
  }

  std::string check_scattered() const {
    for (std::size_t rank = 0; rank < held_.size(); ++rank) {
      const auto [first, last] = indices_of_share(rank);
      std::string fault = check_held(rank, first, last, everybody());
      if (!fault.empty()) return fault;
    }
    return "";
  }

  std::string check_gathered() const {
    for (std::size_t rank = 0; rank < held_.size(); ++rank) {
      for (std::size_t owner = 0; owner < held_.size(); ++owner) {
        const auto [first, last] = indices_of_share(owner);
        RankSet only(held_.size());
        only.insert(owner);
        std::string fault = check_held(rank, first, last, only);
        if (!fault.empty()) return fault;
      }
    }
    return "";
  }

 private:
  // Contributions that a message of the current round brought, still to be added.
  struct Term {
    const Transfer* receive;
    std::vector<RankSet> sets;
  };

  RankSet everybody() const {
    RankSet all(held_.size());
    for (std::size_t rank = 0; rank < held_.size(); ++rank) all.insert(rank);
    return all;
  }

  // Expects a rank to hold everything wanted in the elementary ranges [first, last).
  std::string check_held(std::size_t rank, std::size_t first, std::size_t last,
                         const RankSet& wanted) const {
    for (std::size_t i = first; i < last; ++i) {
      const int missing = wanted.lowest_missing_in(held_[rank][i]);
      if (missing >= 0) {
        return "rank " + std::to_string(rank) + " ends without the contribution of rank " +
               std::to_string(missing) + " in " + range_text(cuts_[i], cuts_[i + 1] - cuts_[i]);
      }
    }
    return "";
  }

  std::pair<std::size_t, std::size_t> indices_of_share(std::size_t rank) const {
    const Share share = share_of(static_cast<int>(rank), static_cast<int>(held_.size()), count_);
    return {index(share.begin), index(share.begin + share.count)};
  }

  std::size_t index(std::size_t begin) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(cuts_, begin) - cuts_.begin());
  }

  std::size_t count_;
  std::vector<std::size_t> cuts_;
  std::vector<std::vector<RankSet>> held_;  // [rank][elementary range]
  std::vector<std::vector<Term>> terms_;    // [rank]
};

}  // namespace

namespace {

// Calls `prepare` with the buffers before all transfers, and `check_end` after them.
std::string check_collective(const TransferLists& transfers_of_rank, std::size_t count,
                             const std::function<void(Buffers&)>& prepare,
                             const std::function<std::string(const Buffers&)>& check_end) {
  require_checkable(transfers_of_rank.size());
  const int ranks = static_cast<int>(transfers_of_rank.size());
  for (int rank = 0; rank < ranks; ++rank) {
    const std::vector<Transfer>& transfers = transfers_of_rank[static_cast<std::size_t>(rank)];
    std::string fault = check_list(rank, transfers, ranks, count, count);
    if (fault.empty()) fault = check_chains_apart(rank, transfers);
    if (!fault.empty()) return fault;
  }
  Buffers buffers(transfers_of_rank, count);
  prepare(buffers);
  std::string fault = run_chains(transfers_of_rank, buffers);
  return fault.empty() ? check_end(buffers) : fault;
}

}  // namespace

std::string check_all_reduce(const std::vector<std::vector<Transfer>>& transfers_of_rank,
                             std::size_t count) {
  std::vector<int> all(transfers_of_rank.size());
  std::iota(all.begin(), all.end(), 0);
  return check_all_reduce_among(transfers_of_rank, all, count);
}

std::string check_all_reduce_among(const std::vector<std::vector<Transfer>>& transfers_of_rank,
                                   std::span<const int> among, std::size_t count) {
  for (std::size_t rank = 0; rank < transfers_of_rank.size(); ++rank) {
    const bool takes_part = std::ranges::count(among, static_cast<int>(rank)) > 0;
    if (takes_part || transfers_of_rank[rank].empty()) continue;
    return "rank " + std::to_string(rank) + " takes part, and is none of those that shall";
  }
  return check_collective(
      transfers_of_rank, count, [](Buffers&) {},
      [&](const Buffers& buffers) { return buffers.check_complete(among); });
}

std::string check_reduce_scatter(const std::vector<std::vector<Transfer>>& transfers_of_rank,
                                 std::size_t count) {
  return check_collective(
      transfers_of_rank, count, [](Buffers&) {},
      [](const Buffers& buffers) { return buffers.check_scattered(); });
}

std::string check_all_gather(const std::vector<std::vector<Transfer>>& transfers_of_rank,
                             std::size_t count) {
  for (std::size_t rank = 0; rank < transfers_of_rank.size(); ++rank) {
    for (const Transfer& transfer : transfers_of_rank[rank]) {
      if (transfer.kind != Transfer::Kind::kReceiveAdd) continue;
      return "rank " + std::to_string(rank) + " adds in an all-gather, in " + place_text(transfer);
    }
  }
  return check_collective(
      transfers_of_rank, count, [](Buffers& buffers) { buffers.keep_shares(); },
      [](const Buffers& buffers) { return buffers.check_gathered(); });
}

std::vector<Traffic> traffic(const std::vector<std::vector<Transfer>>& transfers_of_rank) {
  std::vector<Traffic> out(transfers_of_rank.size());
  for (std::size_t rank = 0; rank < transfers_of_rank.size(); ++rank) {
    for (const Transfer& transfer : transfers_of_rank[rank]) {
      if (transfer.kind == Transfer::Kind::kSend) {
        out[rank].sent += transfer.count;
      } else {
        out[rank].received += transfer.count;
        if (transfer.kind == Transfer::Kind::kReceiveAdd) out[rank].added += transfer.count;
      }
    }
  }
  return out;
}

}  // namespace winnow::comm
