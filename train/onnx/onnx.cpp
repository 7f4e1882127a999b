#include "train/onnx/onnx.h"

#include <cstdint>
#include <variant>
#include <vector>

#include "common/error.h"
#include "common/wire_writer.h"
#include "train/onnx/onnx_nodes_internal.h"
#include "train/rewrites/rewrites.h"

namespace winnow::train {
namespace onnx {
namespace {

// Field numbers and type numbers of onnx.proto.
constexpr std::int64_t kIrVersion = 8;
constexpr std::int64_t kOperatorSet = 17;
constexpr std::uint64_t kMostBytes =
    (std::uint64_t{1} << 31) - (1 << 16);  // limit of a message, minus its other content
enum AttributeType : std::int64_t { kFloatAttribute = 1, kIntAttribute = 2, kIntsAttribute = 7 };
enum GraphField : std::uint64_t {
  kNode = 1,
  kName = 2,
  kInitializer = 5,
  kInput = 11,
  kOutput = 12
};

WireWriter attribute_fields(const Attribute& attribute) {
  WireWriter out;
  out.text(1, attribute.name);
  if (const auto* one = std::get_if<std::int64_t>(&attribute.value)) {
    out.number(3, *one).number(20, kIntAttribute);
  } else if (const auto* real = std::get_if<float>(&attribute.value)) {
    out.real(2, *real).number(20, kFloatAttribute);
  } else {
    for (const std::int64_t value : std::get<Integers>(attribute.value)) out.number(8, value);
    out.number(20, kIntsAttribute);
  }
  return out;
}

// A ValueInfoProto. The first extent is free.
WireWriter value_fields(const std::string& name, const Shape& shape, std::int64_t type) {
  WireWriter extents;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    WireWriter extent;
    i == 0 ? extent.text(2, "N") : extent.number(1, shape[i]);
    extents.message(1, extent);
  }
  WireWriter tensor;
  tensor.number(1, type).message(2, extents);
  WireWriter type_of;
  type_of.message(1, tensor);
  WireWriter out;
  out.text(1, name).message(2, type_of);
  return out;
}

std::size_t index(ValueId id) { return static_cast<std::size_t>(id); }

// The part of the graph that computes the logits from the pixels.
Graph logits_alone(Graph graph) {
  std::erase_if(graph.outputs,
                [](const Output& output) { return output.kind != OutputKind::kLogits; });
  return prune(graph);
}

// An initializer without its numbers, which follow.
WireWriter initializer(const std::string& name, const Shape& shape, std::int64_t type,
                       std::uint64_t bytes) {
  WireWriter tensor;
  for (const std::int64_t extent : shape) tensor.number(1, extent);
  tensor.number(2, type).text(8, name).begin_bytes(9, bytes);
  WireWriter out;
  out.begin_bytes(kInitializer, tensor.view().size() + bytes).raw(tensor.view());
  return out;
}

// A ModelProto up to the fields of its graph, of `graph_bytes` bytes, which follow.
WireWriter model(const std::map<std::string, std::string>& metadata, std::uint64_t graph_bytes) {
  WireWriter operators;
  operators.text(1, "").number(2, kOperatorSet);
  WireWriter out;
  out.number(1, kIrVersion).text(2, "winnow").message(8, operators);
  for (const auto& [name, value] : metadata) {
    WireWriter entry;
    entry.text(1, name).text(2, value);
    out.message(14, entry);
  }
  return out.begin_bytes(7, graph_bytes);
}

}  // namespace

void Nodes::add_node(std::string_view type, const std::string& name, const Names& inputs,
                     const std::vector<Attribute>& attributes) {
  WireWriter node;
  for (const std::string& input : inputs) node.text(1, input);
  node.text(2, name).text(3, name).text(4, type);
  for (const Attribute& attribute : attributes) node.message(5, attribute_fields(attribute));
  fields_.message(kNode, node);
}

std::string Nodes::add(std::string_view type, const std::string& layer, const Names& inputs,
                       const std::vector<Attribute>& attributes) {
  std::string name = next_name(layer);
  add_node(type, name, inputs, attributes);
  return name;
}

void Nodes::name_output(const std::string& value, const std::string& name) {
  add_node("Identity", name, {value}, {});
}

std::string Nodes::add_constant(const Shape& shape, std::int64_t type, BytesView data) {
  std::string name = next_name("constant");
  WireWriter before = initializer(name, shape, type, data.size());
  fields_.raw(before.view()).raw(data);
  return name;
}

std::string Nodes::constant(const Integers& values) {
  return add_constant({static_cast<std::int64_t>(values.size())}, kInt64, as_bytes(values));
}

std::string Nodes::constant(const Shape& shape, const std::vector<float>& values) {
  return add_constant(shape, kFloat, as_bytes(values));
}

}  // namespace onnx

void write_onnx(const Graph& graph, const TensorOf& tensor_of,
                const std::map<std::string, std::string>& metadata,
                const std::function<void(BytesView)>& sink) {
  using namespace onnx;
  struct Weights {
    WireWriter before;
    BytesView data;
  };
  const Graph net = logits_alone(graph);
  Nodes nodes;
  nodes.fields().text(kName, "winnow");
  std::vector<Weights> weights;
  std::uint64_t bytes = 0;
  std::vector<std::string> names(net.values.size());
  for (std::size_t i = 0; i < net.values.size(); ++i) {
    const Value& value = net.values[i];
    names[i] = value.name;
    if (value.kind == ValueKind::kInput) {
      nodes.fields().message(kInput, value_fields(value.name, value.shape, kUint8));
    } else if (value.kind != ValueKind::kComputed) {
      const BytesView data = std::as_bytes(tensor_of(value.name));
      weights.push_back({initializer(value.name, value.shape, kFloat, data.size()), data});
      bytes += weights.back().before.view().size() + data.size();
    }
  }
  for (const Node& node : net.nodes) {
    names[index(node.outputs[0])] = write_node({net, node, names}, nodes);
  }
  const ValueId logits = net.outputs.front().value;
  nodes.name_output(names[index(logits)], "logits");
  nodes.fields().message(kOutput, value_fields("logits", net.value(logits).shape, kFloat));
  bytes += nodes.fields().view().size();
  if (bytes >= kMostBytes) {
    throw UsageError(
        "the weights take " + std::to_string(bytes >> 20) +
        " MiB, but an ONNX file must be under 2048 MiB; use the safetensors file of a checkpoint");
  }
  sink(model(metadata, bytes).view());
  sink(nodes.fields().view());
  for (Weights& tensor : weights) {
    sink(tensor.before.view());
    sink(tensor.data);
  }
}

}  // namespace winnow::train
