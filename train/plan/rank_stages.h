#pragma once

#include <cstddef>
#include <vector>

#include "train/plan/batch_layout.h"
#include "train/plan/run_plan.h"

namespace winnow::train {

// The ranks that compute each stage of a net: ranks of a stage follow each other. Without a
// pipeline there is one stage, of all ranks. Pure.
struct RankStages {
  std::vector<int> ranks{1};  // of each stage, at least one

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

// Gives `ranks` ranks to stages of these costs so that the most costly rank costs least; of equals
// the first stage gets one. Throws UsageError: fewer ranks than stages.
RankStages spread_ranks(const std::vector<double>& costs, int ranks);

// A micro-batch of this rank, counted from 0, whose values at a border go to a rank of the next
// stage or come from one of the stage before.
struct HandOver {
  int micro_batch = 0;
  int peer = 0;

  friend bool operator==(const HandOver&, const HandOver&) = default;
};

// Those of a rank in a step. Both ends of a link have its messages in the same order: that in which
// the sender's lanes come to them.
struct HandOvers {
  std::vector<HandOver> receives{};
  std::vector<HandOver> sends{};
};
HandOvers plan_hand_overs(const Layout& layout, int rank);

}  // namespace winnow::train
