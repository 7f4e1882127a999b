#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "common/wire_writer.h"
#include "train/graph/graph.h"

namespace winnow::train::onnx {

// Names of values in the ONNX graph.
using Names = std::vector<std::string>;
using Integers = std::vector<std::int64_t>;

struct Attribute {
  std::string_view name;
  std::variant<std::int64_t, float, Integers> value;
};

// Collects nodes and constants of an ONNX graph, in the order in which they are added.
class Nodes {
 public:
  // Adds a node and returns the name of its output. `layer`: name of the net's layer, for readers
  // of the model.
  std::string add(std::string_view type, const std::string& layer, const Names& inputs,
                  const std::vector<Attribute>& attributes = {});
  // Adds a constant and returns its name.
  std::string constant(const Integers& values);
  std::string constant(const Shape& shape, const std::vector<float>& values);

  // Makes `value` an output of the ONNX graph, called `name`.
  void name_output(const std::string& value, const std::string& name);

  // The fields of GraphProto.
  WireWriter& fields() { return fields_; }

 private:
  std::string next_name(const std::string& layer) { return layer + ":" + std::to_string(++added_); }
  void add_node(std::string_view type, const std::string& name, const Names& inputs,
                const std::vector<Attribute>& attributes);
  std::string add_constant(const Shape& shape, std::int64_t type, BytesView data);

  WireWriter fields_;
  std::uint64_t added_ = 0;
};

// A node of the net that is to be written to ONNX.
struct Source {
  const Graph& graph;
  const Node& node;
  const std::vector<std::string>& names;  // for each value of the graph so far, its name in ONNX

  const std::string& input(std::size_t i) const { return names[index(node.inputs[i])]; }
  const Shape& shape(std::size_t i) const { return graph.values[index(node.inputs[i])].shape; }
  const Shape& output_shape() const { return graph.values[index(node.outputs[0])].shape; }

 private:
  static std::size_t index(ValueId id) { return static_cast<std::size_t>(id); }
};

// Adds the ONNX nodes that compute the first output of `source.node`, and returns its name. Throws
// UsageError if ONNX has no equivalent.
std::string write_node(const Source& source, Nodes& to);

// Numbers of element types, as in TensorProto::DataType.
inline constexpr std::int64_t kFloat = 1;
inline constexpr std::int64_t kUint8 = 2;
inline constexpr std::int64_t kInt64 = 7;

}  // namespace winnow::train::onnx
