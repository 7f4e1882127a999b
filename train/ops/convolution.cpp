#include "train/ops/convolution.h"

#include <utility>

#include "train/graph/text.h"
#include "train/ops/products.h"

namespace winnow::train {
namespace {

// (K,C) stands for a filter (K,C,1,1).
Shape filter_of(Shape shape) {
  if (shape.size() == 2) shape.insert(shape.end(), {1, 1});
  return shape;
}

std::int64_t windows(const ShapeInference& in, std::int64_t size, std::int64_t kernel,
                     const ConvAxis& axis) {
  if (axis.dilation < 1) {
    in.fail("dilation " + number_text(axis.dilation) + " must be at least 1");
  }
  return in.windows(size, kernel < 1 ? kernel : span_of(kernel, axis), axis.stride,
                    {axis.before, axis.after});
}

Shape convolved(const ShapeInference& in, const Shape& x, const Shape& filter,
                const ConvAttributes& conv, std::int64_t groups) {
  const Shape w = filter_of(filter);
  if (x.size() != 4 || w.size() != 4) {
    in.fail("data " + to_string(x) + " and filter " + to_string(w) + " must have 4 extents each");
  }
  if (groups < 1 || x[1] % groups != 0 || w[0] % groups != 0) {
    in.fail(number_text(groups) + " groups must divide the " + number_text(x[1]) +
            " channels and the " + number_text(w[0]) + " filters");
  }
  in.extent("the number of channels of the filter", w[1], x[1] / groups);
  return {x[0], w[0], windows(in, x[2], w[2], conv.axes.rows),
          windows(in, x[3], w[3], conv.axes.columns)};
}

ProductSum product_of(const Shape& x, const Shape& w, const Shape& y, const ConvAttributes& conv) {
  const auto window = [](const ConvAxis& axis) {
    return WindowRows{axis.stride, axis.before, axis.dilation};
  };
  return {ImageLayout(x), filter_of(w), ImageLayout(y), window(conv.axes.rows),
          window(conv.axes.columns)};
}

}  // namespace

std::vector<Value> infer_convolution(const ShapeInference& in, const ConvAttributes& conv,
                                     std::int64_t groups) {
  in.arity(conv.bias ? 3 : 2);
  const Shape y = convolved(in, in.rank(0, 4), in.value(1).shape, conv, groups);
  in.storage(0, Storage::kCompute);
  in.storage(1, Storage::kF32);
  if (conv.bias) in.same_as(2, {y[1]});
  return {in.computed(y)};
}

std::vector<Value> infer_convolution_data(const ShapeInference& in, const ConvAttributes& conv,
                                          std::int64_t groups) {
  in.arity(2);
  in.same_as(0, convolved(in, conv.data_shape, in.value(1).shape, conv, groups));
  in.storage(1, Storage::kF32);
  return {in.computed(conv.data_shape)};
}

std::vector<Value> infer_convolution_filter(const ShapeInference& in, const ConvAttributes& conv,
                                            std::int64_t groups) {
  in.arity(2);
  in.same_as(1, convolved(in, in.rank(0, 4), conv.filter_shape, conv, groups));
  in.storage(0, Storage::kCompute);
  std::vector<Value> out = {in.made("", conv.filter_shape, Storage::kF32)};
  if (conv.bias) out.push_back(in.made(".bias", {conv.filter_shape[0]}, Storage::kF32));
  return out;
}

void convolve(const ReferenceOperands& o, const ConvAttributes& conv) {
  product_sum(product_of(o.in_shape(0), o.in_shape(1), o.out_shape(0), conv), o.in(0), o.in(1),
              o.in_if(2, conv.bias), o.out(0));
}

void convolve_data(const ReferenceOperands& o, const ConvAttributes& conv) {
  product_sum_data(product_of(o.out_shape(0), o.in_shape(1), o.in_shape(0), conv), o.in(0), o.in(1),
                   o.out(0));
}

void convolve_filter(const ReferenceOperands& o, const ConvAttributes& conv) {
  product_sum_filter(product_of(o.in_shape(0), o.out_shape(0), o.in_shape(1), conv), o.in(0),
                     o.in(1), o.out(0), o.out_if(1, conv.bias));
}

ConvAttributes backward_attributes(const GradientBuilder& builder, const Node& node,
                                   ConvAttributes conv) {
  conv.data_shape = builder.value(node.inputs[0]).shape;
  conv.filter_shape = builder.value(node.inputs[1]).shape;
  return conv;
}

void add_convolution_cases(CaseTable& table, const ConvolutionOperations& operations,
                           const ConvolutionCase& made) {
  const auto& [name, x, w, axes] = made;
  const std::int64_t groups = x[1] / w[1];
  const Shape window = filter_of(w);
  const auto outputs = [](std::int64_t size, std::int64_t kernel, const ConvAxis& axis) {
    return (size + axis.before + axis.after - span_of(kernel, axis)) / axis.stride + 1;
  };
  const Shape y = {x[0], w[0], outputs(x[2], window[2], axes.rows),
                   outputs(x[3], window[3], axes.columns)};
  const auto named = [](const Operation& op, const std::string& tail) {
    return std::string(op.name) + "_" + tail;
  };
  ConvAttributes conv;
  conv.axes = axes;
  for (const bool bias : {false, true}) {
    conv.bias = bias;
    const std::string tail = name + (bias ? "_bias" : "");
    CaseMaker forward = table.begin();
    std::vector<ValueId> inputs = {forward.data("x", x), forward.parameter("w", w)};
    if (bias) inputs.push_back(forward.parameter("b", {w[0]}));
    table.keep(std::move(forward).finish(named(operations.forward, tail), operations.forward,
                                         inputs, operations.attributes(conv, groups)));

    CaseMaker filter = table.begin();
    inputs = {filter.data("x", x), filter.data("dy", y)};
    ConvAttributes of_filter = conv;
    of_filter.filter_shape = w;
    table.keep(std::move(filter).finish(named(operations.filter, tail), operations.filter, inputs,
                                        operations.attributes(of_filter, groups)));
  }
  CaseMaker data = table.begin();
  const std::vector<ValueId> inputs = {data.data("dy", y), data.parameter("w", w)};
  conv.bias = false;
  conv.data_shape = x;
  table.keep(std::move(data).finish(named(operations.data, name), operations.data, inputs,
                                    operations.attributes(conv, groups)));
}

}  // namespace winnow::train
