#include "train/plan/execution.h"

#include <numeric>

#include "common/comm/schedule/hierarchical.h"

namespace winnow::train {
namespace {

SumTransfers plan_transfers(const Layout& layout, const Execution& execution,
                            const comm::Placement& placement) {
  const comm::Schedule& schedule = comm::find_schedule(layout.schedule);
  const auto all_reduce = [&](std::size_t count) {
    return schedule.all_reduce(placement, count, layout.schedule_options);
  };
  const bool in_parts = schedule.all_reduce == &comm::hierarchical_all_reduce &&
                        placement.machines() < placement.ranks() &&
                        execution.sums != Sums::kWholeNumbers;
  const bool tail_apart = sends_bf16(execution.sums);
  SumTransfers transfers;
  for (const GradientLayout::Bucket& bucket : execution.gradients.buckets) {
    const bool last = &bucket == &execution.gradients.buckets.back();
    const std::size_t count = bucket.count - (last && tail_apart ? kTailCount : 0);
    if (in_parts) {
      transfers.parts.push_back(
          comm::hierarchical_parts(placement, count, layout.schedule_options));
    } else {
      transfers.buckets.push_back(all_reduce(count));
    }
  }
  if (tail_apart) transfers.tail = all_reduce(kTailCount);
  if (execution.sums == Sums::kWholeNumbers) {
    transfers.exponents = all_reduce(exponent_count(execution.gradients));
  }
  const auto micro_batches = static_cast<std::size_t>(execution.total_micro_batches);
  for (const Exchange& exchange : execution.exchanges) {
    transfers.exchanges.push_back(all_reduce(micro_batches * exchange.elements));
  }
  return transfers;
}

}  // namespace

Execution plan_execution(const RunPlan& plan, const Graph& graph, const comm::Placement& placement,
                         bool asynchronous) {
  const Layout& layout = plan.layout;
  Execution execution{.gradients = layout_gradients(graph, layout.bucket_bytes, kTailCount),
                      .exchanges = exchanges_of(graph),
                      .sums = plan.numerics.sums};
  const RankLayout& mine = layout.ranks.at(static_cast<std::size_t>(placement.rank));
  execution.micro_batches = mine.lanes;
  execution.evaluation_lanes = mine.evaluation_lanes;
  execution.batches_ahead = mine.batches_ahead;
  execution.total_micro_batches = 0;
  for (const RankLayout& rank : layout.ranks) {
    if (&rank == &mine) execution.first_micro_batch = execution.total_micro_batches;
    execution.total_micro_batches +=
        std::accumulate(rank.lanes.begin(), rank.lanes.end(), std::int64_t{0});
  }
  StepShape shape{
      .micro_batches = mine.lanes, .threads = mine.threads, .asynchronous = asynchronous};
  for (const Exchange& exchange : execution.exchanges) {
    shape.exchanges.push_back(exchange.ready_after);
  }
  execution.tasks = plan_step(execution.gradients, graph.nodes.size(), shape);
  execution.transfers = plan_transfers(layout, execution, placement);
  return execution;
}

}  // namespace winnow::train
