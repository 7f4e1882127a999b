#include "train/graph/stages.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>

namespace winnow::train {
namespace {

constexpr int kNoStage = std::numeric_limits<int>::max();

std::size_t place_of(ValueId id) { return static_cast<std::size_t>(id); }

}  // namespace

std::vector<Output> losses_of_stages(const Graph& graph) {
  std::vector<Output> losses;
  for (const OutputKind kind : {OutputKind::kLocalLoss, OutputKind::kLoss}) {
    std::ranges::copy_if(graph.outputs, std::back_inserter(losses),
                         [&](const Output& output) { return output.kind == kind; });
  }
  if (losses.empty() || losses.back().kind != OutputKind::kLoss) {
    throw Error("a graph without a loss among its outputs has no stages");
  }
  return losses;
}

Stages find_stages(const Graph& graph) {
  const std::vector<Output> losses = losses_of_stages(graph);
  Stages stages{.count = static_cast<int>(losses.size()),
                .of_value = std::vector<int>(graph.values.size(), kNoStage),
                .of_node = std::vector<int>(graph.nodes.size(), 0)};
  std::vector<int>& first = stages.of_value;
  for (std::size_t k = 0; k < losses.size(); ++k) {
    first[place_of(losses[k].value)] = static_cast<int>(k);
  }
  const auto first_of = [&](const Node& node) {
    int stage = kNoStage;
    for (const ValueId id : node.outputs) stage = std::min(stage, first[place_of(id)]);
    return stage;
  };
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    const int stage = first_of(graph.nodes[i]);
    for (const ValueId id : graph.nodes[i].inputs) {
      first[place_of(id)] = std::min(first[place_of(id)], stage);
    }
  }
  std::vector<int> made_in(graph.values.size(), 0);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    int& stage = stages.of_node[i];
    const int leads_to = first_of(graph.nodes[i]);
    for (const ValueId id : graph.nodes[i].inputs) stage = std::max(stage, made_in[place_of(id)]);
    if (leads_to != kNoStage) stage = leads_to;
    for (const ValueId id : graph.nodes[i].outputs) made_in[place_of(id)] = stage;
  }
  std::ranges::replace(first, kNoStage, -1);
  return stages;
}

std::vector<int> stages_of_tensors(const Graph& forward) {
  const Stages stages = find_stages(forward);
  std::vector<int> made_in(forward.values.size(), 0);
  for (std::size_t i = 0; i < forward.nodes.size(); ++i) {
    for (const ValueId id : forward.nodes[i].outputs) made_in[place_of(id)] = stages.of_node[i];
  }
  std::vector<int> stage = stages.of_value;
  for (const Output& output : forward.outputs) {
    if (output.kind != OutputKind::kMean && output.kind != OutputKind::kVariance) continue;
    stage[place_of(output.of)] = made_in[place_of(output.value)];
  }
  std::vector<int> of_tensors;
  for (std::size_t i = 0; i < forward.values.size(); ++i) {
    const ValueKind kind = forward.values[i].kind;
    if (kind != ValueKind::kParameter && kind != ValueKind::kBuffer) continue;
    of_tensors.push_back(std::max(0, stage[i]));
  }
  return of_tensors;
}

}  // namespace winnow::train
