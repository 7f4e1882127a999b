#include "train/plan/execution.h"

#include <algorithm>
#include <numeric>

#include "common/comm/schedule/hierarchical.h"

namespace winnow::train {
namespace {

SumTransfers plan_transfers(const Layout& layout, const Execution& execution,
                            const comm::Placement& placement) {
  const auto all_reduce = [&](std::size_t count) {
    const SizedSchedule taken = schedule_of(layout, count);
    return comm::find_schedule(taken.schedule).all_reduce(placement, count, taken.options);
  };
  const bool may_share_memory =
      placement.machines() < placement.ranks() && execution.sums != Sums::kWholeNumbers;
  const std::vector<std::size_t> counts = bucket_counts(execution.gradients, execution.sums);
  SumTransfers transfers;
  transfers.buckets.resize(counts.size());
  for (std::size_t b = 0; b < counts.size(); ++b) {
    const SizedSchedule taken = schedule_of(layout, counts[b]);
    if (may_share_memory &&
        comm::find_schedule(taken.schedule).all_reduce == &comm::hierarchical_all_reduce) {
      transfers.parts.emplace(b, comm::hierarchical_parts(placement, counts[b], taken.options));
    } else {
      transfers.buckets[b] = all_reduce(counts[b]);
    }
  }
  if (sends_bf16(execution.sums)) {
    transfers.tail = all_reduce(execution.gradients.elements - execution.gradients.tail_offset);
  }
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

std::size_t tail_count(const Graph& graph) {
  const auto heads = std::ranges::count(graph.outputs, OutputKind::kLocalLoss, &Output::kind);
  return kTailCount + kHeadTailCount * static_cast<std::size_t>(heads);
}

std::vector<std::string> tail_names(const Graph& graph) {
  std::vector<std::string> names(kStepTailNames.begin(), kStepTailNames.end());
  for (const Output& output : graph.outputs) {
    if (output.kind != OutputKind::kLocalLoss) continue;
    const std::string& loss = graph.value(output.value).name;
    names.push_back(loss);
    names.push_back(loss + ".correct");
  }
  return names;
}

std::vector<std::size_t> bucket_counts(const GradientLayout& gradients, Sums sums) {
  std::vector<std::size_t> counts;
  for (const GradientLayout::Bucket& bucket : gradients.buckets) counts.push_back(bucket.count);
  if (sends_bf16(sums)) counts.back() -= gradients.elements - gradients.tail_offset;
  return counts;
}

SizedSchedule schedule_of(const Layout& layout, std::size_t count) {
  for (const SizedSchedule& sized : layout.smaller) {
    if (count <= sized.elements) return sized;
  }
  return {.elements = count, .schedule = layout.schedule, .options = layout.schedule_options};
}

Execution plan_execution(const RunPlan& plan, const Graph& graph, const comm::Placement& placement,
                         bool asynchronous) {
  const Layout& layout = plan.layout;
  Execution execution{.gradients = layout_gradients(graph, layout.bucket_bytes, tail_count(graph)),
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
