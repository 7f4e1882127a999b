#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "train/graph/graph.h"

namespace winnow::train {

// The operands of a node that is to be added to a graph, and the checks that operations share.
// Every check throws ShapeError, which names the operation and the node.
class ShapeInference {
 public:
  ShapeInference(const Graph& graph, const Operation& op, const std::string& name,
                 std::span<const ValueId> inputs, const Attributes& attributes);

  [[noreturn]] void fail(const std::string& what) const;

  template <class T>
  const T& attributes() const {
    const T* found = attributes_.find<T>();
    if (found == nullptr) fail("its attributes belong to another operation");
    return *found;
  }
  void no_attributes() const;

  std::size_t inputs() const { return inputs_.size(); }
  // The graph's value that is input i of the node.
  const Value& value(std::size_t i) const { return graph_.value(inputs_[i]); }
  void arity(std::size_t wanted) const;  // checks that the node has `wanted` inputs
  // Checks that input i has `wanted` dimensions, and returns its shape.
  const Shape& rank(std::size_t i, std::size_t wanted) const;
  // Checks the storage of input i: bytes if `wanted` is kU8, otherwise not bytes.
  void storage(std::size_t i, Storage wanted) const;
  // Checks that input i has this shape and is not stored as bytes.
  void same_as(std::size_t i, const Shape& wanted) const;
  void same(std::string_view what, const Shape& got, const Shape& wanted) const;
  void extent(std::string_view what, std::int64_t got, std::int64_t wanted) const;
  // windows() returns the number of positions of a window of `kernel` elements in `size` elements
  // along one axis. Pads: how many zeros are added before and after these elements.
  struct Pads {
    std::int64_t before, after;
  };
  std::int64_t windows(std::int64_t size, std::int64_t kernel, std::int64_t stride,
                       const Pads& pads) const;

  // Returns an output value of the node, named "<node><suffix>".
  Value made(const std::string& suffix, Shape shape, Storage storage) const;
  Value computed(Shape shape) const { return made("", std::move(shape), Storage::kCompute); }

 private:
  const Graph& graph_;
  const Operation& op_;
  const std::string& name_;
  std::span<const ValueId> inputs_;
  const Attributes& attributes_;
};

}  // namespace winnow::train
