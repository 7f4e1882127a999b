#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "train/graph/graph.h"

namespace winnow::train {

// The operands of one node as float64 numbers in memory order. Images of rank 4 and their gradients
// are in NHWC; filters and their gradients are in logical order. Outputs already have their size.
class ReferenceOperands {
 public:
  // `values` holds the numbers of every value of the graph, by ValueId.
  ReferenceOperands(const Graph& graph, const Node& node, std::span<std::vector<double>> values)
      : graph_(graph), node_(node), values_(values) {}

  std::size_t inputs() const { return node_.inputs.size(); }
  const std::vector<double>& in(std::size_t i) const { return numbers(node_.inputs[i]); }
  std::vector<double>& out(std::size_t i) const { return numbers(node_.outputs[i]); }
  // Returns input i if `there` is true, else nullptr.
  const std::vector<double>* in_if(std::size_t i, bool there) const {
    return there ? &in(i) : nullptr;
  }
  std::vector<double>* out_if(std::size_t i, bool there) const { return there ? &out(i) : nullptr; }
  const Shape& in_shape(std::size_t i) const { return graph_.value(node_.inputs[i]).shape; }
  const Shape& out_shape(std::size_t i) const { return graph_.value(node_.outputs[i]).shape; }
  template <class T>
  const T& attributes() const {
    return attributes_of<T>(node_);
  }

 private:
  std::vector<double>& numbers(ValueId id) const { return values_[static_cast<std::size_t>(id)]; }

  const Graph& graph_;
  const Node& node_;
  std::span<std::vector<double>> values_;
};

// Computes one node in float64. Reads its inputs from `values` and assigns its outputs there, which
// already have their size.
void interpret_node(const Graph& graph, const Node& node, std::span<std::vector<double>> values);

}  // namespace winnow::train
