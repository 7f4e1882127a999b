#include "tests/train/run_operation.h"

#include <map>
#include <string>
#include <utility>

#include "train/backend/reference/interpret.h"

namespace winnow::train {

std::vector<std::vector<double>> outputs_of(const Operation& op, const std::vector<Given>& given,
                                            Attributes attributes) {
  Graph graph;
  std::map<ValueId, std::vector<double>> inputs;
  std::vector<ValueId> ids;
  for (const Given& g : given) {
    Value value;
    value.name = "input " + std::to_string(ids.size());
    value.shape = g.shape;
    value.kind = ValueKind::kInput;
    value.storage = g.storage;
    ids.push_back(add_value(graph, value));
    inputs[ids.back()] = g.numbers;
  }
  const auto made = add_node(graph, op, "y", ids, std::move(attributes));
  const auto values = interpret(graph, inputs);
  std::vector<std::vector<double>> outputs;
  for (const ValueId id : made) outputs.push_back(values[static_cast<std::size_t>(id)]);
  return outputs;
}

}  // namespace winnow::train
