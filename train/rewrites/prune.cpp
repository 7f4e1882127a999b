#include "train/graph/edit.h"
#include "train/rewrites/rewrites.h"

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

}  // namespace winnow::train
