#include "train/ops/linear.h"

#include <string>

#include "train/graph/reference.h"
#include "train/graph/shape_inference.h"
#include "train/ops/cases.h"
#include "train/ops/products.h"

namespace winnow::train {
namespace {

std::string text(const Attributes& attributes) {
  return attributes.find<LinearAttributes>()->bias ? " bias" : "";
}

// Shape (N, D) for x of shape (N, D) or (N, C, H, W).
Shape flat(const ShapeInference& in, const Shape& x) {
  if (x.size() != 2 && x.size() != 4) in.fail("data " + to_string(x) + " must have 2 or 4 extents");
  return {x[0], element_count(x) / x[0]};
}

std::vector<Value> infer_forward(const ShapeInference& in) {
  const bool bias = in.attributes<LinearAttributes>().bias;
  in.arity(bias ? 3 : 2);
  const Shape x = flat(in, in.value(0).shape);
  const Shape& w = in.rank(1, 2);
  in.storage(0, Storage::kCompute);
  in.storage(1, Storage::kF32);
  in.extent("the number of features of the weight", w[1], x[1]);
  if (bias) in.same_as(2, {w[0]});
  return {in.computed({x[0], w[0]})};
}

std::vector<Value> infer_backward_data(const ShapeInference& in) {
  in.arity(2);
  const auto& linear = in.attributes<LinearAttributes>();
  const Shape x = flat(in, linear.data_shape);
  const Shape& w = in.rank(1, 2);
  in.storage(1, Storage::kF32);
  in.extent("the number of features of the weight", w[1], x[1]);
  in.same_as(0, {x[0], w[0]});
  return {in.computed(linear.data_shape)};
}

std::vector<Value> infer_backward_weight(const ShapeInference& in) {
  in.arity(2);
  const bool bias = in.attributes<LinearAttributes>().bias;
  const Shape x = flat(in, in.value(0).shape);
  const Shape& dy = in.rank(1, 2);
  in.storage(0, Storage::kCompute);
  in.storage(1, Storage::kCompute);
  in.extent("the batch of the gradient", dy[0], x[0]);
  std::vector<Value> out = {in.made("", {dy[1], x[1]}, Storage::kF32)};
  if (bias) out.push_back(in.made(".bias", {dy[1]}, Storage::kF32));
  return out;
}

ProductSum product_of(const Shape& x, const Shape& y) {
  const ImageLayout data(x);
  return {data, {y[1], data.c, data.h, data.w}, ImageLayout(y)};
}

void forward(const ReferenceOperands& o) {
  product_sum(product_of(o.in_shape(0), o.out_shape(0)), o.in(0), o.in(1),
              o.in_if(2, o.attributes<LinearAttributes>().bias), o.out(0));
}

void backward_data(const ReferenceOperands& o) {
  product_sum_data(product_of(o.out_shape(0), o.in_shape(0)), o.in(0), o.in(1), o.out(0));
}

void backward_weight(const ReferenceOperands& o) {
  product_sum_filter(product_of(o.in_shape(0), o.in_shape(1)), o.in(0), o.in(1), o.out(0),
                     o.out_if(1, o.attributes<LinearAttributes>().bias));
}

void gradient(GradientBuilder& builder, const Node& node) {
  auto attributes = attributes_of<LinearAttributes>(node);
  attributes.data_shape = builder.value(node.inputs[0]).shape;
  product_gradient(builder, node, attributes, kLinearBackwardWeight, kLinearBackwardData);
}

void add_cases(CaseTable& table, const std::string& name, const Shape& x, std::int64_t k) {
  const Shape w = {k, element_count(x) / x[0]};
  for (const bool bias : {false, true}) {
    LinearAttributes a;
    a.bias = bias;
    const std::string tail = name + (bias ? "_bias" : "");
    CaseMaker forward = table.begin();
    std::vector<ValueId> inputs = {forward.data("x", x), forward.parameter("w", w)};
    if (bias) inputs.push_back(forward.parameter("b", {k}));
    table.keep(std::move(forward).finish("linear_" + tail, kLinear, inputs, a));

    CaseMaker filter = table.begin();
    inputs = {filter.data("x", x), filter.data("dy", {x[0], k})};
    table.keep(std::move(filter).finish("linear_backward_filter_" + tail, kLinearBackwardWeight,
                                        inputs, a));
  }
  CaseMaker data = table.begin();
  LinearAttributes a;
  a.data_shape = x;
  const std::vector<ValueId> inputs = {data.data("dy", {x[0], k}), data.parameter("w", w)};
  table.keep(
      std::move(data).finish("linear_backward_data_" + name, kLinearBackwardData, inputs, a));
}

void cases(CaseTable& table) {
  add_cases(table, "flat", {3, 7}, 5);
  add_cases(table, "image", {2, 3, 4, 5}, 6);
  add_cases(table, "one_sample", {1, 17}, 10);
  add_cases(table, "one_class", {4, 1}, 1);
  add_cases(table, "wide", {5, 64}, 33);
}

}  // namespace

const Operation kLinear = {.name = "linear",
                           .infer = infer_forward,
                           .reference = forward,
                           .text = text,
                           .gradient = gradient,
                           .multiply_adds = forward_multiply_adds,
                           .checks = {.cases = cases}};
const Operation kLinearBackwardData = {.name = "linear_backward_data",
                                       .infer = infer_backward_data,
                                       .reference = backward_data,
                                       .text = text,
                                       .multiply_adds = backward_data_multiply_adds};
const Operation kLinearBackwardWeight = {.name = "linear_backward_weight",
                                         .infer = infer_backward_weight,
                                         .reference = backward_weight,
                                         .text = text,
                                         .multiply_adds = backward_filter_multiply_adds};

}  // namespace winnow::train
