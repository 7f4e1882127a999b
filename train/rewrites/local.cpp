#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <string>

#include "train/graph/stages.h"
#include "train/rewrites/rewrites.h"

namespace winnow::train {

std::vector<LossReach> local_losses(const Graph& forward, int neighbours) {
  const std::vector<Output> losses = losses_of_stages(forward);
  std::vector<LossReach> reaches;
  for (std::size_t k = 0; k < losses.size(); ++k) {
    LossReach& reach = reaches.emplace_back(LossReach{.loss = losses[k].value});
    const auto moved = static_cast<std::size_t>(neighbours) + 1;
    if (k >= moved) reach.ends = {losses[k - moved].of};
  }
  return reaches;
}

Graph order_by_stage(const Graph& graph) {
  const std::vector<int> stage = find_stages(graph).of_node;
  std::vector<std::size_t> order(graph.nodes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return stage[i]; });
  Graph result = graph;
  for (std::size_t i = 0; i < order.size(); ++i) result.nodes[i] = graph.nodes[order[i]];
  return result;
}

Graph at_head(const Graph& forward, int head) {
  const auto heads = static_cast<int>(losses_of_stages(forward).size()) - 1;
  if (head < 1 || head > heads) {
    throw UsageError(heads == 0 ? "the net was trained as a whole, so it has no head " +
                                      std::to_string(head) + "; leave out --head"
                                : "the net has no head " + std::to_string(head) +
                                      "; its heads are 1 to " + std::to_string(heads));
  }
  const ValueId weights = forward.find("weights");
  const ValueId own = forward.find("local." + std::to_string(head) + ".weights");
  Graph result = forward;
  for (Node& node : result.nodes) std::ranges::replace(node.inputs, own, weights);
  std::map<OutputKind, int> seen;  // local outputs so far, by kind
  std::erase_if(result.outputs, [&](const Output& output) {
    if (is_local(output)) return ++seen[output.kind] != head;
    return output.kind == OutputKind::kLoss || output.kind == OutputKind::kPerSampleLoss ||
           output.kind == OutputKind::kLogits;
  });
  for (Output& output : result.outputs) {
    if (!is_local(output)) continue;
    output.kind = output.kind == OutputKind::kLocalLoss            ? OutputKind::kLoss
                  : output.kind == OutputKind::kLocalPerSampleLoss ? OutputKind::kPerSampleLoss
                                                                   : OutputKind::kLogits;
    output.of = -1;
  }
  return prune(result);
}

}  // namespace winnow::train
