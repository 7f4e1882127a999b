#include "train/ops/cases.h"

#include <utility>

#include "train/graph/reference.h"

namespace winnow::train {

std::vector<std::vector<double>> computed_values(const OpCase& made) {
  std::vector<std::vector<double>> values(made.graph.values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto given = made.inputs.find(static_cast<ValueId>(i));
    if (given != made.inputs.end()) values[i] = given->second;
    values[i].resize(static_cast<std::size_t>(element_count(made.graph.values[i].shape)));
  }
  interpret_node(made.graph, made.graph.nodes[0], values);
  return values;
}

std::vector<double> as_f32(std::vector<double> numbers) {
  for (double& number : numbers) number = static_cast<float>(number);
  return numbers;
}

ValueId CaseMaker::leaf(std::string name, Shape shape, std::vector<double> numbers, ValueKind kind,
                        Storage storage) {
  Value value;
  value.name = std::move(name);
  value.shape = std::move(shape);
  value.kind = kind;
  value.storage = storage;
  const ValueId id = add_value(made_.graph, std::move(value));
  made_.inputs[id] = std::move(numbers);
  return id;
}

ValueId CaseMaker::data(std::string name, const Shape& shape) {
  return leaf(std::move(name), shape, signed_numbers(shape), ValueKind::kInput, Storage::kCompute);
}

ValueId CaseMaker::parameter(std::string name, const Shape& shape) {
  return leaf(std::move(name), shape, signed_numbers(shape), ValueKind::kParameter);
}

std::vector<double> CaseMaker::signed_numbers(const Shape& shape) {
  std::vector<double> numbers(static_cast<std::size_t>(element_count(shape)));
  for (double& number : numbers) number = static_cast<int>(rng_.below(257)) / 128.0 - 1;
  return numbers;
}

std::vector<double> CaseMaker::positive_numbers(const Shape& shape) {
  std::vector<double> numbers = signed_numbers(shape);
  for (double& number : numbers) number = 0.5 + number * number;
  return as_f32(numbers);
}

std::vector<double> CaseMaker::whole_numbers(const Shape& shape, std::uint32_t below) {
  std::vector<double> numbers(static_cast<std::size_t>(element_count(shape)));
  for (double& number : numbers) number = rng_.below(below);
  return numbers;
}

OpCase CaseMaker::finish(std::string name, const Operation& op, std::vector<ValueId> inputs,
                         Attributes attributes) && {
  made_.name = std::move(name);
  made_.outputs = add_node(made_.graph, op, "y", std::move(inputs), std::move(attributes));
  for (const ValueId id : made_.outputs) {
    made_.graph.outputs.push_back({OutputKind::kValue, id, -1, 0});
  }
  return std::move(made_);
}

const OpCase& CaseTable::keep(OpCase made) {
  cases_.push_back(std::move(made));
  return cases_.back();
}

}  // namespace winnow::train
