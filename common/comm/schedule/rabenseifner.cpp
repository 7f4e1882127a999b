#include "common/comm/schedule/rabenseifner.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "common/comm/schedule/arguments.h"

namespace winnow::comm {

namespace {

struct HalvedRange {
  std::size_t begin;
  std::size_t end;
};

std::pair<HalvedRange, HalvedRange> halves(HalvedRange range) {
  const std::size_t middle = range.begin + divide_up(range.end - range.begin, 2);
  return {{range.begin, middle}, {middle, range.end}};
}

// The transfers of one rank in one chain.
class Chain {
 public:
  Chain(int rank, int ranks, int chain, std::vector<Transfer>& transfers)
      : rank_(rank),
        power_(static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)))),
        pairs_(ranks - power_),
        chain_(chain),
        transfers_(transfers) {}

  void append(HalvedRange range) {
    const bool paired = rank_ < 2 * pairs_;
    const bool stands_for_both = rank_ % 2 == 0;
    if (paired) add_up_in_pair(range, stands_for_both);
    if (!paired || stands_for_both) halve_and_double(range);
    if (paired) hand_back(range, stands_for_both);
  }

 private:
  using Kind = Transfer::Kind;

  // Each of the pair adds one half; then the first one receives the other's half.
  void add_up_in_pair(HalvedRange range, bool first) {
    const int other = rank_ ^ 1;
    const auto [low, high] = halves(range);
    add(Kind::kSend, other, first ? high : low);
    add(Kind::kReceiveAdd, other, first ? low : high);
    ++round_;
    add(first ? Kind::kReceiveCopy : Kind::kSend, other, high);
    ++round_;
  }

  void hand_back(HalvedRange range, bool first) {
    const auto [low, high] = halves(range);
    for (const HalvedRange half : {low, high}) {
      add(first ? Kind::kSend : Kind::kReceiveCopy, rank_ ^ 1, half);
    }
  }

  // Half of the remaining range goes to ever nearer ranks, and sums come back from ever farther
  // ones.
  void halve_and_double(HalvedRange range) {
    const int place = rank_ < 2 * pairs_ ? rank_ / 2 : rank_ - pairs_;  // among power_ ranks
    std::vector<std::pair<int, HalvedRange>> given;
    HalvedRange kept = range;
    for (int distance = power_ / 2; distance > 0; distance /= 2) {
      const int peer = rank_at(place ^ distance);
      auto [mine, theirs] = halves(kept);
      if ((place & distance) != 0) std::swap(mine, theirs);
      add(Kind::kSend, peer, theirs);
      add(Kind::kReceiveAdd, peer, mine);
      ++round_;
      given.emplace_back(peer, theirs);
      kept = mine;
    }
    for (auto last = given.rbegin(); last != given.rend(); ++last) {
      const auto& [peer, theirs] = *last;
      add(Kind::kSend, peer, kept);
      add(Kind::kReceiveCopy, peer, theirs);
      ++round_;
      kept = {std::min(kept.begin, theirs.begin), std::max(kept.end, theirs.end)};
    }
  }

  int rank_at(int place) const { return place < pairs_ ? 2 * place : place + pairs_; }

  void add(Kind kind, int peer, HalvedRange range) {
    if (range.begin == range.end) return;
    transfers_.push_back({kind, peer, chain_, round_, range.begin, range.end - range.begin});
  }

  const int rank_;
  const int power_;  // ranks that halve and double
  const int pairs_;  // additional ranks
  const int chain_;
  int round_ = 0;
  std::vector<Transfer>& transfers_;
};

}  // namespace

std::vector<Transfer> rabenseifner_all_reduce(const Placement& placement, std::size_t count,
                                              const ScheduleOptions& options) {
  const int ranks = placement.ranks();
  check_arguments(placement.rank, ranks, options);
  if (ranks == 1 || count == 0) return {};
  const std::size_t segment = std::min(options.segment_elements, count);
  const int chains = checked_chains(divide_up(count, 2 * segment));
  const std::size_t span = divide_up(count, static_cast<std::size_t>(chains));

  std::vector<Transfer> transfers;
  for (int chain = 0; chain < chains; ++chain) {
    const std::size_t begin = static_cast<std::size_t>(chain) * span;
    if (begin >= count) break;
    Chain(placement.rank, ranks, chain, transfers).append({begin, std::min(begin + span, count)});
  }
  return transfers;
}

}  // namespace winnow::comm
