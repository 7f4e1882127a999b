#include "train/ops/elementwise.h"

#include <string>

#include "train/graph/gradient.h"
#include "train/graph/reference.h"
#include "train/graph/shape_inference.h"
#include "train/ops/cases.h"

namespace winnow::train {
namespace {

template <std::size_t kInputs>
std::vector<Value> infer_elementwise(const ShapeInference& in) {
  in.arity(kInputs);
  in.no_attributes();
  const Shape& shape = in.value(0).shape;
  Storage storage = Storage::kF32;
  for (std::size_t i = 0; i < kInputs; ++i) {
    in.same_as(i, shape);
    if (in.value(i).storage == Storage::kCompute) storage = Storage::kCompute;
  }
  return {in.made("", shape, storage)};
}

// out = f(first input, last input), elementwise.
template <class F>
void for_each(const ReferenceOperands& o, F f) {
  const std::vector<double>& a = o.in(0);
  const std::vector<double>& b = o.in(o.inputs() - 1);
  for (std::size_t i = 0; i < a.size(); ++i) o.out(0)[i] = f(a[i], b[i]);
}

void relu(const ReferenceOperands& o) {
  for_each(o, [](double x, double) { return x > 0 ? x : 0; });
}
void relu_backward(const ReferenceOperands& o) {
  for_each(o, [](double y, double dy) { return y > 0 ? dy : 0; });
}
void add(const ReferenceOperands& o) {
  for_each(o, [](double a, double b) { return a + b; });
}

void relu_gradient(GradientBuilder& builder, const Node& node) {
  const ValueId dy = builder.gradient_of(node.outputs[0]);
  builder.add_gradient(node.inputs[0],
                       builder.append(kReluBackward, "backward", {node.outputs[0], dy}, {})[0]);
}

void add_gradient(GradientBuilder& builder, const Node& node) {
  const ValueId dy = builder.gradient_of(node.outputs[0]);
  builder.pass_gradient(node.inputs[0], dy);
  builder.pass_gradient(node.inputs[1], dy);
}

void relu_sides(const ReferenceOperands& o, std::vector<double>& sides) {
  for (const double y : o.out(0)) sides.push_back(y > 0 ? 1 : 0);
}

void add_cases(CaseTable& table, const std::string& name, const Shape& shape) {
  CaseMaker relu = table.begin();
  const ValueId x = relu.data("x", shape);
  table.keep(std::move(relu).finish("relu_" + name, kRelu, {x}, {}));
  CaseMaker backward = table.begin();
  const std::vector<ValueId> gradients = {backward.data("y", shape), backward.data("dy", shape)};
  table.keep(std::move(backward).finish("relu_backward_" + name, kReluBackward, gradients, {}));
  CaseMaker add = table.begin();
  const std::vector<ValueId> terms = {add.data("a", shape), add.data("b", shape)};
  table.keep(std::move(add).finish("add_" + name, kAdd, terms, {}));
}

void cases(CaseTable& table) {
  add_cases(table, "image", {2, 5, 3, 7});
  add_cases(table, "flat", {3, 19});
  add_cases(table, "one", {1, 1});
}

}  // namespace

const Operation kRelu = {.name = "relu",
                         .infer = infer_elementwise<1>,
                         .reference = relu,
                         .gradient = relu_gradient,
                         .checks = {.cases = cases, .sides = relu_sides}};
const Operation kReluBackward = {
    .name = "relu_backward", .infer = infer_elementwise<2>, .reference = relu_backward};
const Operation kAdd = {
    .name = "add", .infer = infer_elementwise<2>, .reference = add, .gradient = add_gradient};

}  // namespace winnow::train
