#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "train/graph/graph.h"

namespace winnow::train {

// The operands of a node to be added, and checks that operations share. Every check throws
// ShapeError, naming the operation and the node.
class ShapeInference {
 public:
  ShapeInference(const Graph& graph, const Operation& op, const std::string& name,
                 std::span<const ValueId> inputs, const Attributes& attributes);

  [[noreturn]] void fail(const std::string& what) const;

  template <class T>
  const T& attributes() const {
    const T* found = attributes_.find<T>();
    if (found == nullptr) fail("the attributes are of another operation");
    return *found;
  }
  void no_attributes() const;

  std::size_t inputs() const { return inputs_.size(); }
  const Value& value(std::size_t i) const { return graph_.value(inputs_[i]); }  // input i
  void arity(std::size_t wanted) const;  // requires that many inputs
  // requires that many extents of input i
  const Shape& rank(std::size_t i, std::size_t wanted) const;
  // requires that storage of input i: bytes, or not
  void storage(std::size_t i, Storage wanted) const;
  void same_as(std::size_t i, const Shape& wanted) const;  // requires this shape, and not bytes
  void same(std::string_view what, const Shape& got, const Shape& wanted) const;
  void extent(std::string_view what, std::int64_t got, std::int64_t wanted) const;
  // Number of positions of a window of `kernel` elements in `size` elements with zeros at both
  // ends.
  struct Pads {
    std::int64_t before, after;
  };
  std::int64_t windows(std::int64_t size, std::int64_t kernel, std::int64_t stride,
                       const Pads& pads) const;

  // An output value of the node, named "<node><suffix>".
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
