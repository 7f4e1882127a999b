#include "train/backend/reference/interpret.h"

#include <string>

#include "train/graph/reference.h"

namespace winnow::train {
namespace {

using Numbers = std::vector<double>;

std::size_t position(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

std::vector<std::vector<double>> interpret(const Graph& graph,
                                           const std::map<ValueId, std::vector<double>>& inputs) {
  std::vector<Numbers> values(graph.values.size());
  for (const auto& [id, numbers] : inputs) {
    const Value& value = graph.values.at(position(id));
    if (value.kind == ValueKind::kComputed) {
      throw ShapeError("'" + value.name + "' is computed and cannot be given");
    }
    if (numbers.size() != position(element_count(value.shape))) {
      throw ShapeError("'" + value.name + "' is given " + std::to_string(numbers.size()) +
                       " numbers, but its shape is " + to_string(value.shape));
    }
    values[position(id)] = numbers;
  }
  for (const Node& node : graph.nodes) {
    for (const ValueId id : node.inputs) {
      if (values[position(id)].empty()) {
        throw ShapeError("'" + graph.value(id).name + "', which '" + node.name +
                         "' reads, is neither given nor computed by an earlier node");
      }
    }
    for (const ValueId id : node.outputs) {
      values[position(id)].resize(position(element_count(graph.value(id).shape)));
    }
    interpret_node(graph, node, values);
  }
  return values;
}

}  // namespace winnow::train
