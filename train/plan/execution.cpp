#include "train/plan/execution.h"

#include <algorithm>
#include <numeric>

#include "common/comm/schedule/hierarchical.h"
#include "common/comm/schedule/some_ranks.h"

namespace winnow::train {
namespace {

SumTransfers plan_transfers(const Layout& layout, const Execution& execution,
                            const comm::Placement& placement) {
  const RankStages stages = stages_of(layout);
  const std::vector<int> ranks = stages.members(stages.stage_of(placement.rank));
  const auto all_reduce = [&](std::size_t count) {
    const SizedSchedule taken = schedule_of(layout, count);
    return comm::among(placement, ranks, [&](const comm::Placement& those) {
      return comm::find_schedule(taken.schedule).all_reduce(those, count, taken.options);
    });
  };
  const bool may_share_memory = placement.machines() < placement.ranks() &&
                                execution.sums != Sums::kWholeNumbers && !stages.is_pipeline();
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

// The peer of each micro-batch.
std::vector<int> peers_of(const std::vector<HandOver>& overs) {
  std::vector<int> peers(overs.size());
  for (const HandOver& over : overs) peers[static_cast<std::size_t>(over.micro_batch)] = over.peer;
  return peers;
}

comm::Wire wire_of(DType dtype) {
  if (dtype == DType::kBF16) return comm::Wire::kBF16;
  return dtype == DType::kF16 ? comm::Wire::kF16 : comm::Wire::kF32;
}

HandedValues handed_values(const Graph& graph, const HandOvers& overs, DType dtype) {
  const auto elements = [&](ValueId id) {
    return static_cast<std::size_t>(element_count(graph.value(id).shape));
  };
  HandedValues handed{.wire = wire_of(dtype)};
  if (!overs.receives.empty()) handed.in = elements(graph.find("pixels"));
  const auto border = std::ranges::find(graph.outputs, OutputKind::kValue, &Output::kind);
  if (border == graph.outputs.end()) return handed;
  const auto made = std::ranges::find_if(graph.nodes, [&](const Node& node) {
    return std::ranges::count(node.outputs, border->value) > 0;
  });
  handed.out = elements(border->value);
  handed.made_after = static_cast<std::size_t>(made - graph.nodes.begin()) + 1;
  return handed;
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
  const RankStages stages = stages_of(layout);
  const int stage = stages.stage_of(placement.rank);
  for (const int member : stages.members(stage)) {
    const RankLayout& rank = layout.ranks.at(static_cast<std::size_t>(member));
    if (&rank == &mine) execution.first_micro_batch = execution.total_micro_batches;
    execution.total_micro_batches +=
        std::accumulate(rank.lanes.begin(), rank.lanes.end(), std::int64_t{0});
  }
  StepShape shape{
      .micro_batches = mine.lanes, .threads = mine.threads, .asynchronous = asynchronous};
  for (const Exchange& exchange : execution.exchanges) {
    shape.exchanges.push_back(exchange.ready_after);
  }
  if (stages.is_pipeline()) {
    execution.group = static_cast<std::uint32_t>(stage) + 1;
    execution.hand_overs = plan_hand_overs(layout, placement.rank);
    shape.comes_from = peers_of(execution.hand_overs.receives);
    shape.goes_to = peers_of(execution.hand_overs.sends);
    execution.handed = handed_values(graph, execution.hand_overs, plan.numerics.dtype);
    shape.sent_after = execution.handed.made_after;
  }
  execution.tasks = plan_step(execution.gradients, graph.nodes.size(), shape);
  execution.transfers = plan_transfers(layout, execution, placement);
  return execution;
}

}  // namespace winnow::train
