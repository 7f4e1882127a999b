#include <algorithm>
#include <string>
#include <utility>

#include "train/ops/batch_norm.h"
#include "train/rewrites/rewrites.h"
#include "train/rewrites/running_statistics.h"

namespace winnow::train {
namespace {

// Whether each value depends on a parameter.
std::vector<bool> depends_on_parameters(const Graph& graph) {
  std::vector<bool> found(graph.values.size(), false);
  for (const ValueId id : graph.of_kind(ValueKind::kParameter)) {
    found[static_cast<std::size_t>(id)] = true;
  }
  for (const Node& node : graph.nodes) {
    const bool any = std::ranges::any_of(
        node.inputs, [&](ValueId id) { return found[static_cast<std::size_t>(id)]; });
    if (!any) continue;
    for (const ValueId id : node.outputs) found[static_cast<std::size_t>(id)] = true;
  }
  return found;
}

}  // namespace

Graph freeze(const Graph& graph, const std::vector<std::string>& tensors) {
  Graph result = graph;
  std::vector<bool> frozen(graph.values.size(), false);
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    Value& value = result.values[i];
    const bool ours = value.kind == ValueKind::kParameter || value.kind == ValueKind::kBuffer;
    if (!ours || std::ranges::find(tensors, value.name) == tensors.end()) continue;
    frozen[i] = true;
    value.kind = ValueKind::kBuffer;
  }
  const auto is_frozen = [&](ValueId id) { return frozen[static_cast<std::size_t>(id)]; };
  const std::vector<bool> trained = depends_on_parameters(result);
  const auto statistics_frozen = [&](const Node& norm) {
    return std::ranges::count_if(graph.outputs, [&](const Output& output) {
             return (output.value == norm.outputs[1] || output.value == norm.outputs[2]) &&
                    output.of >= 0 && is_frozen(output.of);
           }) == 2;
  };
  for (Node& node : result.nodes) {
    if (node.op != &kBatchNorm || trained[static_cast<std::size_t>(node.outputs[1])] ||
        !is_frozen(node.inputs[1]) || !is_frozen(node.inputs[2]) || !statistics_frozen(node)) {
      continue;
    }
    node = with_running_statistics(graph, std::move(node));
  }
  std::erase_if(result.outputs, [&](const Output& output) {
    return (output.kind == OutputKind::kMean || output.kind == OutputKind::kVariance) &&
           is_frozen(output.of);
  });
  return prune(result);
}

}  // namespace winnow::train
