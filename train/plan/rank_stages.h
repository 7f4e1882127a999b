#pragma once

#include <cstddef>
#include <vector>

#include "train/plan/batch_layout.h"
#include "train/plan/run_plan.h"

namespace winnow::train {

// The ranks that compute each stage of a net, in pipeline parallelism. A stage has consecutive
// ranks. Without a pipeline, one stage has all ranks. Pure.
struct RankStages {
  std::vector<int> ranks{1};  // number of ranks of each stage; at least one stage

  bool is_pipeline() const noexcept { return ranks.size() > 1; }
  int count() const noexcept { return static_cast<int>(ranks.size()); }
  int total() const noexcept;
  int stage_of(int rank) const noexcept;  // stage of a rank, from 0
  int first_rank(int stage) const noexcept;
  std::vector<int> members(int stage) const;  // ranks of a stage, ascending
  // Index of a rank among those of its stage, and their number.
  RankOf place_of(int rank) const noexcept;
};

// Returns the stages of the ranks in a plan's layout.
RankStages stages_of(const Layout& layout);

// Distributes `ranks` ranks over the stages so that the costliest rank is as cheap as possible.
// `costs`: cost of each stage. In a tie, the first stage gets the rank.
// Throws  UsageError: fewer ranks than stages.
RankStages spread_ranks(const std::vector<double>& costs, int ranks);

// A message between two stages of a pipeline: the values of one micro-batch of this rank, counted
// from 0. It goes to a rank of the next stage, or comes from a rank of the stage before.
struct HandOver {
  int micro_batch = 0;
  int peer = 0;

  friend bool operator==(const HandOver&, const HandOver&) = default;
};

// All messages between stages that a rank receives and sends in a step. Sender and receiver list
// the messages between them in the same order, in which the sender's lanes (program replicas)
// compute them.
struct HandOvers {
  std::vector<HandOver> receives{};
  std::vector<HandOver> sends{};
};
HandOvers plan_hand_overs(const Layout& layout, int rank);

}  // namespace winnow::train
