#include "train/plan/execution.h"

#include <numeric>

namespace winnow::train {
namespace {

SumTransfers plan_transfers(const Layout& layout, const GradientLayout& gradients,
                            const comm::Placement& placement, bool reproducible) {
  const comm::Schedule& schedule = comm::find_schedule(layout.schedule);
  const auto all_reduce = [&](std::size_t count) {
    return schedule.all_reduce(placement, count, layout.schedule_options);
  };
  SumTransfers transfers;
  for (const GradientLayout::Bucket& bucket : gradients.buckets) {
    transfers.buckets.push_back(all_reduce(bucket.count));
  }
  if (reproducible) transfers.exponents = all_reduce(exponent_count(gradients));
  return transfers;
}

}  // namespace

Execution plan_execution(const RunPlan& plan, const Graph& graph, const comm::Placement& placement,
                         bool asynchronous) {
  const Layout& layout = plan.layout;
  Execution execution{.gradients = layout_gradients(graph, layout.bucket_bytes, kTailCount),
                      .reproducible = plan.numerics.sums == Sums::kWholeNumbers};
  const RankLayout& mine = layout.ranks.at(static_cast<std::size_t>(placement.rank));
  execution.micro_batches = mine.lanes;
  execution.evaluation_lanes = mine.evaluation_lanes;
  execution.batches_ahead = mine.batches_ahead;
  execution.total_micro_batches = 0;
  for (const RankLayout& rank : layout.ranks) {
    execution.total_micro_batches +=
        std::accumulate(rank.lanes.begin(), rank.lanes.end(), std::int64_t{0});
  }
  execution.tasks = plan_step(
      execution.gradients, graph.nodes.size(),
      {.micro_batches = mine.lanes, .threads = mine.threads, .asynchronous = asynchronous});
  execution.transfers =
      plan_transfers(layout, execution.gradients, placement, execution.reproducible);
  return execution;
}

}  // namespace winnow::train
