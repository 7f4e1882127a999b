#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <string>

#include "train/graph/stages.h"
#include "train/rewrites/rewrites.h"

namespace winnow::train {
namespace {

// Head `head`, the only one among the outputs, says what the net did: it reads "weights".
void put_head_in_place(Graph& graph, int head) {
  const ValueId weights = graph.find("weights");
  const ValueId own = graph.find("local." + std::to_string(head) + ".weights");
  for (Node& node : graph.nodes) std::ranges::replace(node.inputs, own, weights);
  for (Output& output : graph.outputs) {
    if (!is_local(output)) continue;
    output.kind = output.kind == OutputKind::kLocalLoss            ? OutputKind::kLoss
                  : output.kind == OutputKind::kLocalPerSampleLoss ? OutputKind::kPerSampleLoss
                                                                   : OutputKind::kLogits;
    output.of = -1;
  }
}

// Removes the parameters and buffers that no node reads and to which no output refers.
void drop_unused_tensors(Graph& graph) {
  std::vector<bool> is_used(graph.values.size(), false);
  const auto use = [&](ValueId id) { is_used[static_cast<std::size_t>(id)] = true; };
  for (const Node& node : graph.nodes) std::ranges::for_each(node.inputs, use);
  for (const Output& output : graph.outputs) {
    if (output.of >= 0) use(output.of);
  }
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    ValueKind& kind = graph.values[i].kind;
    const bool is_tensor = kind == ValueKind::kParameter || kind == ValueKind::kBuffer;
    if (is_tensor && !is_used[i]) kind = ValueKind::kInput;  // one that nothing reads is pruned
  }
}

}  // namespace

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

Graph at_stage(const Graph& graph, int stage) {
  const Stages stages = find_stages(graph);
  const std::vector<Output> losses = losses_of_stages(graph);
  const auto s = static_cast<std::size_t>(stage);
  if (s >= losses.size()) throw Error("the net has no stage " + std::to_string(stage));
  Graph result = graph;
  std::vector<bool> made(graph.values.size(), false);  // in the stage
  result.nodes.clear();
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (stages.of_node[i] != stage) continue;
    result.nodes.push_back(graph.nodes[i]);
    for (const ValueId id : graph.nodes[i].outputs) made[static_cast<std::size_t>(id)] = true;
  }
  std::erase_if(result.outputs, [&](const Output& output) {
    return !made[static_cast<std::size_t>(output.value)];
  });
  if (s + 1 < losses.size()) {
    put_head_in_place(result, stage + 1);
    result.outputs.push_back({OutputKind::kValue, losses[s].of});
  }
  if (stage > 0) {
    result.values[static_cast<std::size_t>(graph.find("pixels"))].name = "pixels of the net";
    Value& given = result.values[static_cast<std::size_t>(losses[s - 1].of)];
    given.kind = ValueKind::kInput;
    given.name = "pixels";
  }
  drop_unused_tensors(result);
  return prune(result);
}

Graph at_stage_for_inference(const Graph& forward, int stage) {
  Graph result = at_stage(forward, stage);
  const bool ends_before_others =
      std::ranges::count(result.outputs, OutputKind::kValue, &Output::kind) > 0;
  if (ends_before_others) {
    std::erase_if(result.outputs, [](const Output& output) {
      return output.kind == OutputKind::kLoss || output.kind == OutputKind::kPerSampleLoss ||
             output.kind == OutputKind::kLogits;
    });
  }
  return for_inference(result);
}

Graph at_head(const Graph& forward, int head) {
  const auto heads = static_cast<int>(losses_of_stages(forward).size()) - 1;
  if (head < 1 || head > heads) {
    throw UsageError(heads == 0 ? "the net was trained as a whole, so it has no head " +
                                      std::to_string(head) + "; leave out --head"
                                : "the net has no head " + std::to_string(head) +
                                      "; its heads are 1 to " + std::to_string(heads));
  }
  Graph result = forward;
  std::map<OutputKind, int> seen;  // local outputs so far, by kind
  std::erase_if(result.outputs, [&](const Output& output) {
    if (is_local(output)) return ++seen[output.kind] != head;
    return output.kind == OutputKind::kLoss || output.kind == OutputKind::kPerSampleLoss ||
           output.kind == OutputKind::kLogits;
  });
  put_head_in_place(result, head);
  return prune(result);
}

}  // namespace winnow::train
