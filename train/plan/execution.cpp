#include "train/plan/execution.h"

#include <numeric>

#include "common/checksum.h"

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

std::uint64_t digest_of_transfers(const SumTransfers& transfers) {
  std::vector<std::uint64_t> numbers;
  const auto append = [&](const std::vector<comm::Transfer>& some) {
    numbers.push_back(some.size());
    for (const comm::Transfer& t : some) {
      for (const auto number :
           {static_cast<std::uint64_t>(t.kind), static_cast<std::uint64_t>(t.peer),
            static_cast<std::uint64_t>(t.chain), static_cast<std::uint64_t>(t.round),
            static_cast<std::uint64_t>(t.begin), static_cast<std::uint64_t>(t.count)}) {
        numbers.push_back(number);
      }
    }
  };
  for (const auto& bucket : transfers.buckets) append(bucket);
  append(transfers.exponents);
  return xxh3_64(std::as_bytes(std::span(numbers)));
}

}  // namespace winnow::train
