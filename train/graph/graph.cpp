#include "train/graph/graph.h"

#include <algorithm>
#include <array>
#include <utility>

#include "train/graph/text.h"

namespace winnow::train {
namespace {

constexpr std::array<std::string_view, 4> kValueKinds = {"input", "parameter", "buffer",
                                                         "computed"};
constexpr std::array<std::string_view, 3> kStorages = {"compute", "f32", "u8"};
constexpr std::array<std::string_view, 14> kInits = {
    "zeros",           "ones",        "kaiming_fan_out", "uniform_fan_in", "kaiming_fan_in",
    "uniform_fan_out", "normal_0.01", "normal_0.02",     "1e-6",           "xavier_uniform",
    "lecun_normal",    "normal_1e-6", "dirac",           "whitening"};
constexpr std::array<std::string_view, 12> kOutputKinds = {"loss",
                                                           "per_sample_loss",
                                                           "logits",
                                                           "gradient",
                                                           "mean",
                                                           "variance",
                                                           "value",
                                                           "shared_mean",
                                                           "shared_variance",
                                                           "local_loss",
                                                           "local_per_sample_loss",
                                                           "local_logits"};

template <class T>
std::size_t index_of(T enumerator) {
  return static_cast<std::size_t>(enumerator);
}

std::string shape_text(const Shape& shape) {
  std::string text = "(";
  for (const std::int64_t extent : shape) {
    if (text.size() > 1) text += ",";
    text += std::to_string(extent);
  }
  return text + ")";
}

std::string id_text(ValueId id) { return "%" + std::to_string(id); }

std::string ids_text(const std::vector<ValueId>& ids) {
  std::string text;
  for (const ValueId id : ids) {
    if (!text.empty()) text += ", ";
    text += id_text(id);
  }
  return text;
}

std::string leaf_line(ValueId id, const Value& value) {
  std::string line = id_text(id) + " = " + std::string(kValueKinds[index_of(value.kind)]) + " '" +
                     value.name + "' " + std::string(kStorages[index_of(value.storage)]);
  if (value.kind != ValueKind::kInput) {
    line += " " + std::string(kInits[index_of(value.init)]);
    if (value.init == Init::kUniformFanIn) line += "=" + number_text(value.fan_in);
    if (value.decay) line += " decay";
  }
  return line + " -> " + shape_text(value.shape) + "\n";
}

std::string node_line(const Graph& graph, const Node& node) {
  std::string line = ids_text(node.outputs) + " = " + std::string(op_name(node.op)) + "(" +
                     ids_text(node.inputs) + ")";
  if (node.op->text != nullptr) line += node.op->text(node.attributes);
  line += " -> ";
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (i > 0) line += ", ";
    line += shape_text(graph.value(node.outputs[i]).shape);
  }
  return line + "\n";
}

std::string output_line(const Graph& graph, const Output& output) {
  std::string line = std::string(kOutputKinds[index_of(output.kind)]) + " " + id_text(output.value);
  if (output.of >= 0) line += " of '" + graph.value(output.of).name + "'";
  if (output.count > 0) line += " count=" + number_text(output.count);
  if (output.momentum != kBatchNormMomentum) line += " momentum=" + number_text(output.momentum);
  return line + "\n";
}

}  // namespace

void throw_other_attributes(const Node& node) {
  throw Error(std::string(op_name(node.op)) + " '" + node.name +
              "': its attributes belong to another operation");
}

ValueId Graph::find(std::string_view name) const {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].name == name) return static_cast<ValueId>(i);
  }
  throw Error("the net has no value named '" + std::string(name) + "'");
}

std::vector<ValueId> Graph::of_kind(ValueKind kind) const {
  std::vector<ValueId> found;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].kind == kind) found.push_back(static_cast<ValueId>(i));
  }
  return found;
}

namespace {

void check_elements(const Value& value) {
  std::int64_t room = kMostElements;
  for (const std::int64_t extent : value.shape) room /= std::max<std::int64_t>(1, extent);
  if (room >= 1) return;
  const bool is_computed = value.kind == ValueKind::kInput || value.kind == ValueKind::kComputed;
  throw UsageError("the net's '" + value.name + "' would have " + to_string(value.shape) +
                   " elements, over " + std::to_string(kMostElements) +
                   (is_computed ? "; choose smaller images or a smaller micro-batch"
                                : "; make this layer or its input narrower"));
}

}  // namespace

ValueId add_value(Graph& graph, Value value) {
  if (value.kind == ValueKind::kComputed) {
    throw ShapeError("value '" + value.name + "': a computed value must be added by add_node");
  }
  for (const std::int64_t extent : value.shape) {
    if (extent < 1) {
      throw ShapeError("value '" + value.name + "': an extent of " + to_string(value.shape) +
                       " is below 1");
    }
  }
  check_elements(value);
  graph.values.push_back(std::move(value));
  return static_cast<ValueId>(graph.values.size() - 1);
}

std::vector<ValueId> add_node(Graph& graph, const Operation& op, std::string name,
                              std::vector<ValueId> inputs, Attributes attributes) {
  std::vector<Value> made = infer(graph, op, name, inputs, attributes);
  for (const Value& value : made) check_elements(value);
  std::vector<ValueId> outputs;
  for (Value& value : made) {
    outputs.push_back(static_cast<ValueId>(graph.values.size()));
    graph.values.push_back(std::move(value));
  }
  graph.nodes.push_back({&op, std::move(name), std::move(inputs), outputs, std::move(attributes)});
  return outputs;
}

std::string to_text(const Graph& graph) {
  std::string text;
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    if (graph.values[i].kind != ValueKind::kComputed) {
      text += leaf_line(static_cast<ValueId>(i), graph.values[i]);
    }
  }
  for (const Node& node : graph.nodes) text += node_line(graph, node);
  for (const Output& output : graph.outputs) text += output_line(graph, output);
  return text;
}

Counts count(const Graph& graph) {
  Counts counts;
  for (const Value& value : graph.values) {
    if (value.kind == ValueKind::kParameter) counts.parameters += element_count(value.shape);
  }
  for (const Node& node : graph.nodes) {
    if (node.op->multiply_adds != nullptr) counts.flops += 2 * node.op->multiply_adds(graph, node);
    for (const auto& operands : {node.inputs, node.outputs}) {
      for (const ValueId id : operands) {
        const Value& value = graph.value(id);
        counts.bytes += static_cast<double>(element_count(value.shape)) *
                        (value.storage == Storage::kU8 ? 1 : 4);
      }
    }
  }
  return counts;
}

}  // namespace winnow::train
