#include "common/comm/schedule/recursive_doubling.h"

#include <algorithm>
#include <bit>

#include "common/comm/schedule/arguments.h"

namespace winnow::comm {

namespace {

using Kind = Transfer::Kind;

// The steps of a rank for every segment, in order. Both ranks of a pair add the same two numbers,
// each its own first. Floating-point addition is commutative, so both have the same bits.
struct Step {
  Kind kind;
  int peer;
  int round;
};

std::vector<Step> steps_of(int rank, int ranks) {
  const int power = static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)));
  const int pairs = ranks - power;
  const bool paired = rank < 2 * pairs;
  if (paired && rank % 2 == 1) {
    return {{Kind::kSend, rank - 1, 0}, {Kind::kReceiveCopy, rank - 1, 1}};
  }
  const auto rank_at = [&](int place) { return place < pairs ? 2 * place : place + pairs; };
  const int place = paired ? rank / 2 : rank - pairs;
  std::vector<Step> steps;
  int round = 0;
  if (paired) steps.push_back({Kind::kReceiveAdd, rank + 1, round++});
  for (int distance = 1; distance < power; distance *= 2) {
    const int peer = rank_at(place ^ distance);
    steps.push_back({Kind::kSend, peer, round});
    steps.push_back({Kind::kReceiveAdd, peer, round++});
  }
  if (paired) steps.push_back({Kind::kSend, rank + 1, round});
  return steps;
}

}  // namespace

std::vector<Transfer> recursive_doubling_all_reduce(const Placement& placement, std::size_t count,
                                                    const ScheduleOptions& options) {
  check_arguments(placement.rank, placement.ranks(), options);
  if (placement.ranks() == 1 || count == 0) return {};
  const int chains = checked_chains(divide_up(count, options.segment_elements));
  const std::vector<Step> steps = steps_of(placement.rank, placement.ranks());

  std::vector<Transfer> transfers;
  for (int chain = 0; chain < chains; ++chain) {
    const std::size_t begin = static_cast<std::size_t>(chain) * options.segment_elements;
    const std::size_t length = std::min(options.segment_elements, count - begin);
    for (const Step& step : steps) {
      transfers.push_back({step.kind, step.peer, chain, step.round, begin, length});
    }
  }
  return transfers;
}

}  // namespace winnow::comm
