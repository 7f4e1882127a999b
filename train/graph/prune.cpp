#include <utility>

#include "train/graph/edit.h"
#include "train/graph/rewrites.h"

namespace winnow::train {
Graph prune(const Graph& graph) {
  std::vector<bool> wanted = is_output(graph);
  std::vector<bool> dropped(graph.nodes.size(), true);
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    const Node& node = graph.nodes[i];
    for (const ValueId id : node.outputs) {
      if (wanted[static_cast<std::size_t>(id)]) dropped[i] = false;
    }
    if (dropped[i]) continue;
    for (const ValueId id : node.inputs) wanted[static_cast<std::size_t>(id)] = true;
  }
  return compacted(graph, dropped);
}

Graph for_inference(const Graph& graph) {
  Graph result = graph;
  for (Node& node : result.nodes) {
    if (node.op == OpKind::kBatchNorm) node = with_running_statistics(graph, std::move(node));
  }
  std::erase_if(result.outputs, [](const Output& output) {
    return output.kind == OutputKind::kMean || output.kind == OutputKind::kVariance ||
           output.kind == OutputKind::kGradient;
  });
  return prune(result);
}

}  // namespace winnow::train
