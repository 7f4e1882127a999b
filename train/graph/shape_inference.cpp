#include "train/graph/shape_inference.h"

#include <utility>

namespace winnow::train {
namespace {

std::string text(std::int64_t number) { return std::to_string(number); }

}  // namespace

ShapeInference::ShapeInference(const Graph& graph, const Operation& op, const std::string& name,
                               std::span<const ValueId> inputs, const Attributes& attributes)
    : graph_(graph), op_(op), name_(name), inputs_(inputs), attributes_(attributes) {
  for (const ValueId id : inputs) {
    if (id < 0 || static_cast<std::size_t>(id) >= graph.values.size()) {
      fail("there is no value %" + text(id));
    }
  }
}

void ShapeInference::fail(const std::string& what) const {
  throw ShapeError(std::string(op_.name) + " '" + name_ + "': " + what);
}

void ShapeInference::no_attributes() const {
  if (!attributes_.empty()) fail("its attributes belong to another operation");
}

void ShapeInference::arity(std::size_t wanted) const {
  if (inputs_.size() != wanted) {
    fail("takes " + std::to_string(wanted) + " inputs, got " + std::to_string(inputs_.size()));
  }
}

const Shape& ShapeInference::rank(std::size_t i, std::size_t wanted) const {
  const Shape& shape = value(i).shape;
  if (shape.size() != wanted) {
    fail("'" + value(i).name + "' has " + std::to_string(shape.size()) + " extents " +
         to_string(shape) + ", wanted " + std::to_string(wanted));
  }
  return shape;
}

void ShapeInference::storage(std::size_t i, Storage wanted) const {
  if ((value(i).storage == Storage::kU8) != (wanted == Storage::kU8)) {
    fail("'" + value(i).name + "' must " + (wanted == Storage::kU8 ? "" : "not ") + "be bytes");
  }
}

void ShapeInference::same_as(std::size_t i, const Shape& wanted) const {
  storage(i, Storage::kCompute);
  same("'" + value(i).name + "'", value(i).shape, wanted);
}

void ShapeInference::same(std::string_view what, const Shape& got, const Shape& wanted) const {
  if (got != wanted) {
    fail("the shape of " + std::string(what) + " is " + to_string(got) + ", wanted " +
         to_string(wanted));
  }
}

void ShapeInference::extent(std::string_view what, std::int64_t got, std::int64_t wanted) const {
  if (got != wanted) fail(std::string(what) + " is " + text(got) + ", wanted " + text(wanted));
}

std::int64_t ShapeInference::windows(std::int64_t size, std::int64_t kernel, std::int64_t stride,
                                     const Pads& pads) const {
  if (stride < 1) fail("stride " + text(stride) + " must be at least 1");
  for (const std::int64_t pad : {pads.before, pads.after}) {
    if (pad < 0) fail("pad " + text(pad) + " must not be negative");
  }
  if (kernel < 1) fail("a kernel of " + text(kernel) + " elements must have at least 1");
  const std::int64_t padded = pads.before + size + pads.after;
  if (padded < kernel) {
    const std::string behind = pads.after == pads.before ? "" : " and " + text(pads.after);
    fail("a kernel of " + text(kernel) + " does not fit into " + text(size) +
         " elements padded by " + text(pads.before) + behind);
  }
  return (padded - kernel) / stride + 1;
}

Value ShapeInference::made(const std::string& suffix, Shape shape, Storage storage) const {
  Value value;
  value.name = name_ + suffix;
  value.shape = std::move(shape);
  value.storage = storage;
  return value;
}

std::vector<Value> infer(const Graph& graph, const Operation& op, const std::string& name,
                         std::span<const ValueId> inputs, const Attributes& attributes) {
  return op.infer(ShapeInference(graph, op, name, inputs, attributes));
}

}  // namespace winnow::train
