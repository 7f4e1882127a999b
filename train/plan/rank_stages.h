#pragma once

#include <cstddef>
#include <vector>

#include "train/plan/batch_layout.h"
#include "train/plan/run_plan.h"

namespace winnow::train {

// The ranks that compute each stage of a net. A stage has consecutive ranks. Without a pipeline,
// one stage has all ranks. Pure.
struct RankStages {
  std::vector<int> ranks{1};  // number of ranks of each stage, at least one

  bool is_pipeline() const noexcept { return ranks.size() > 1; }
  int count() const noexcept { return static_cast<int>(ranks.size()); }
  int total() const noexcept;
  int stage_of(int rank) const noexcept;  // from 0
  int first_rank(int stage) const noexcept;
  std::vector<int> members(int stage) const;  // ascending
  RankOf place_of(int rank) const noexcept;   // among the ranks of its stage
};

// The stages of a plan's ranks.
RankStages stages_of(const Layout& layout);

// Distributes `ranks` ranks over stages of these costs, so that the costliest rank is as cheap as
// possible. Among equal stages, the first gets a rank.
// Throws UsageError: fewer ranks than stages.
RankStages spread_ranks(const std::vector<double>& costs, int ranks);

// A micro-batch of this rank, counted from 0, whose values at a border are sent to a rank of the
// next stage, or received from a rank of the stage before.
struct HandOver {
  int micro_batch = 0;
  int peer = 0;

  friend bool operator==(const HandOver&, const HandOver&) = default;
};

// All hand-overs of a rank in a step. Both ends of a link list its messages in the same order: that
// in which the sender's lanes get to them.
struct HandOvers {
  std::vector<HandOver> receives{};
  std::vector<HandOver> sends{};
};
HandOvers plan_hand_overs(const Layout& layout, int rank);

}  // namespace winnow::train
