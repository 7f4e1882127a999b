#include "train/graph/edit.h"

#include <algorithm>
#include <utility>

namespace winnow::train {

std::vector<int> reader_counts(const Graph& graph) {
  std::vector<int> counts(graph.values.size(), 0);
  for (const Node& node : graph.nodes) {
    for (const ValueId id : node.inputs) ++counts[static_cast<std::size_t>(id)];
  }
  return counts;
}

std::vector<bool> is_output(const Graph& graph) {
  std::vector<bool> found(graph.values.size(), false);
  for (const Output& output : graph.outputs) found[static_cast<std::size_t>(output.value)] = true;
  return found;
}

Graph compacted(const Graph& graph, const std::vector<bool>& dropped) {
  std::vector<bool> stays(graph.values.size(), false);
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    const ValueKind kind = graph.values[i].kind;
    stays[i] = kind == ValueKind::kParameter || kind == ValueKind::kBuffer;
  }
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (dropped[i]) continue;
    for (const ValueId id : graph.nodes[i].outputs) stays[static_cast<std::size_t>(id)] = true;
    for (const ValueId id : graph.nodes[i].inputs) {
      if (graph.value(id).kind == ValueKind::kInput) stays[static_cast<std::size_t>(id)] = true;
    }
  }

  Graph result;
  std::vector<ValueId> renumbered(graph.values.size(), -1);
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    if (!stays[i]) continue;
    renumbered[i] = static_cast<ValueId>(result.values.size());
    result.values.push_back(graph.values[i]);
  }
  const auto moved = [&](ValueId id) {
    const ValueId to = renumbered[static_cast<std::size_t>(id)];
    if (to < 0) {
      throw Error("the rewritten graph still needs '" + graph.value(id).name +
                  "', but no node computes it any more");
    }
    return to;
  };
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (dropped[i]) continue;
    result.nodes.push_back(graph.nodes[i]);
    std::ranges::transform(graph.nodes[i].inputs, result.nodes.back().inputs.begin(), moved);
    std::ranges::transform(graph.nodes[i].outputs, result.nodes.back().outputs.begin(), moved);
  }
  for (Output output : graph.outputs) {
    output.value = moved(output.value);
    if (output.of >= 0) output.of = moved(output.of);
    result.outputs.push_back(output);
  }
  return result;
}

}  // namespace winnow::train
