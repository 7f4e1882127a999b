#include "train/graph/reference.h"

namespace winnow::train {

void interpret_node(const Graph& graph, const Node& node, std::span<std::vector<double>> values) {
  node.op->reference(ReferenceOperands(graph, node, values));
}

}  // namespace winnow::train
