#include "train/plan/rank_stages.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "common/error.h"

namespace winnow::train {
namespace {

int micro_batches_of(const RankLayout& rank) {
  return std::accumulate(rank.lanes.begin(), rank.lanes.end(), 0);
}

// The micro-batches of a rank in the order in which its lanes come to them: the first of each lane,
// then the second of each.
std::vector<int> in_turns(const RankLayout& rank) {
  std::vector<int> order;
  const int turns = std::ranges::max(rank.lanes);
  for (int turn = 0; turn < turns; ++turn) {
    int first = 0;
    for (const int count : rank.lanes) {
      if (turn < count) order.push_back(first + turn);
      first += count;
    }
  }
  return order;
}

// The first micro-batch of a rank in the batch.
int first_micro_batch(const Layout& layout, const RankStages& stages, int rank) {
  int first = 0;
  for (int r = stages.first_rank(stages.stage_of(rank)); r < rank; ++r) {
    first += micro_batches_of(layout.ranks[static_cast<std::size_t>(r)]);
  }
  return first;
}

// The rank of a stage that has micro-batch `index` of the batch.
int rank_with(const Layout& layout, const RankStages& stages, int stage, int index) {
  int rank = stages.first_rank(stage);
  int end = micro_batches_of(layout.ranks[static_cast<std::size_t>(rank)]);
  while (end <= index) end += micro_batches_of(layout.ranks[static_cast<std::size_t>(++rank)]);
  return rank;
}

}  // namespace

int RankStages::total() const noexcept { return std::accumulate(ranks.begin(), ranks.end(), 0); }

int RankStages::stage_of(int rank) const noexcept {
  int stage = 0;
  for (int end = ranks.front(); end <= rank && stage + 1 < count();
       end += ranks[static_cast<std::size_t>(stage)]) {
    ++stage;
  }
  return stage;
}

int RankStages::first_rank(int stage) const noexcept {
  return std::accumulate(ranks.begin(), ranks.begin() + stage, 0);
}

std::vector<int> RankStages::members(int stage) const {
  std::vector<int> all(static_cast<std::size_t>(ranks[static_cast<std::size_t>(stage)]));
  std::iota(all.begin(), all.end(), first_rank(stage));
  return all;
}

RankOf RankStages::place_of(int rank) const noexcept {
  const int stage = stage_of(rank);
  return {rank - first_rank(stage), ranks[static_cast<std::size_t>(stage)]};
}

RankStages stages_of(const Layout& layout) {
  if (layout.stage_ranks.empty()) return {{static_cast<int>(layout.ranks.size())}};
  return {layout.stage_ranks};
}

RankStages spread_ranks(const std::vector<double>& costs, int ranks) {
  const int stages = static_cast<int>(costs.size());
  if (ranks < stages) {
    throw UsageError("--pipeline needs at least one rank for each of " + std::to_string(stages) +
                     " stages, but there are " + std::to_string(ranks) +
                     " ranks; start more ranks, or use fewer --stages");
  }
  RankStages spread{std::vector<int>(costs.size(), 1)};
  for (int left = ranks - stages; left > 0; --left) {
    std::size_t slowest = 0;
    const auto cost = [&](std::size_t s) { return costs[s] / spread.ranks[s]; };
    for (std::size_t s = 1; s < costs.size(); ++s) {
      if (cost(s) > cost(slowest)) slowest = s;
    }
    ++spread.ranks[slowest];
  }
  return spread;
}

HandOvers plan_hand_overs(const Layout& layout, int rank) {
  const RankStages stages = stages_of(layout);
  const int stage = stages.stage_of(rank);
  const auto layout_of = [&](int r) -> const RankLayout& {
    return layout.ranks[static_cast<std::size_t>(r)];
  };
  const int mine = first_micro_batch(layout, stages, rank);
  HandOvers overs;
  if (stage + 1 < stages.count()) {
    for (const int m : in_turns(layout_of(rank))) {
      overs.sends.push_back({m, rank_with(layout, stages, stage + 1, mine + m)});
    }
  }
  if (stage == 0) return overs;
  const int end = mine + micro_batches_of(layout_of(rank));
  for (const int sender : stages.members(stage - 1)) {
    const int first = first_micro_batch(layout, stages, sender);
    for (const int m : in_turns(layout_of(sender))) {
      if (first + m >= mine && first + m < end)
        overs.receives.push_back({first + m - mine, sender});
    }
  }
  return overs;
}

}  // namespace winnow::train
