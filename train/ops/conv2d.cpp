#include "train/ops/conv2d.h"

#include <string>

#include "train/graph/reference.h"
#include "train/graph/shape_inference.h"
#include "train/graph/text.h"
#include "train/ops/cases.h"
#include "train/ops/products.h"

namespace winnow::train {
namespace {

std::string text(const Attributes& attributes) {
  const auto& conv = *attributes.find<ConvAttributes>();
  return " stride=" + number_text(conv.stride) + " pad=" + number_text(conv.pad) +
         (conv.bias ? " bias" : "");
}

Shape convolved(const ShapeInference& in, const Shape& x, const Shape& w,
                const ConvAttributes& conv) {
  if (x.size() != 4 || w.size() != 4) {
    in.fail("data " + to_string(x) + " and filter " + to_string(w) + " must have 4 extents each");
  }
  in.extent("the number of channels of the filter", w[1], x[1]);
  return {x[0], w[0], in.windows(x[2], w[2], conv.stride, conv.pad),
          in.windows(x[3], w[3], conv.stride, conv.pad)};
}

std::vector<Value> infer_forward(const ShapeInference& in) {
  const auto& conv = in.attributes<ConvAttributes>();
  in.arity(conv.bias ? 3 : 2);
  const Shape y = convolved(in, in.rank(0, 4), in.rank(1, 4), conv);
  in.storage(0, Storage::kCompute);
  in.storage(1, Storage::kF32);
  if (conv.bias) in.same_as(2, {y[1]});
  return {in.computed(y)};
}

std::vector<Value> infer_backward_data(const ShapeInference& in) {
  in.arity(2);
  const auto& conv = in.attributes<ConvAttributes>();
  in.same_as(0, convolved(in, conv.data_shape, in.rank(1, 4), conv));
  in.storage(1, Storage::kF32);
  return {in.computed(conv.data_shape)};
}

std::vector<Value> infer_backward_filter(const ShapeInference& in) {
  in.arity(2);
  const auto& conv = in.attributes<ConvAttributes>();
  in.same_as(1, convolved(in, in.rank(0, 4), conv.filter_shape, conv));
  in.storage(0, Storage::kCompute);
  std::vector<Value> out = {in.made("", conv.filter_shape, Storage::kF32)};
  if (conv.bias) out.push_back(in.made(".bias", {conv.filter_shape[0]}, Storage::kF32));
  return out;
}

ProductSum product_of(const Shape& x, const Shape& w, const Shape& y, const ConvAttributes& conv) {
  return {ImageLayout(x), w, ImageLayout(y), {conv.stride, conv.pad}};
}

void forward(const ReferenceOperands& o) {
  const auto& conv = o.attributes<ConvAttributes>();
  product_sum(product_of(o.in_shape(0), o.in_shape(1), o.out_shape(0), conv), o.in(0), o.in(1),
              o.in_if(2, conv.bias), o.out(0));
}

void backward_data(const ReferenceOperands& o) {
  const auto& conv = o.attributes<ConvAttributes>();
  product_sum_data(product_of(o.out_shape(0), o.in_shape(1), o.in_shape(0), conv), o.in(0), o.in(1),
                   o.out(0));
}

void backward_filter(const ReferenceOperands& o) {
  const auto& conv = o.attributes<ConvAttributes>();
  product_sum_filter(product_of(o.in_shape(0), o.out_shape(0), o.in_shape(1), conv), o.in(0),
                     o.in(1), o.out(0), o.out_if(1, conv.bias));
}

void gradient(GradientBuilder& builder, const Node& node) {
  auto attributes = attributes_of<ConvAttributes>(node);
  attributes.data_shape = builder.value(node.inputs[0]).shape;
  attributes.filter_shape = builder.value(node.inputs[1]).shape;
  product_gradient(builder, node, attributes, kConv2dBackwardFilter, kConv2dBackwardData);
}

// Forward and filter gradient with and without a bias, and the data gradient.
void add_cases(CaseTable& table, const std::string& name, const Shape& x, const Shape& w,
               ConvAttributes a) {
  const Shape y = {x[0], w[0], (x[2] + 2 * a.pad - w[2]) / a.stride + 1,
                   (x[3] + 2 * a.pad - w[3]) / a.stride + 1};
  for (const bool bias : {false, true}) {
    a.bias = bias;
    const std::string tail = name + (bias ? "_bias" : "");
    CaseMaker forward = table.begin();
    std::vector<ValueId> inputs = {forward.data("x", x), forward.parameter("w", w)};
    if (bias) inputs.push_back(forward.parameter("b", {w[0]}));
    table.keep(std::move(forward).finish("conv2d_" + tail, kConv2d, inputs, a));

    CaseMaker filter = table.begin();
    inputs = {filter.data("x", x), filter.data("dy", y)};
    ConvAttributes of_filter = a;
    of_filter.filter_shape = w;
    table.keep(std::move(filter).finish("conv2d_backward_filter_" + tail, kConv2dBackwardFilter,
                                        inputs, of_filter));
  }
  CaseMaker data = table.begin();
  const std::vector<ValueId> inputs = {data.data("dy", y), data.parameter("w", w)};
  a.bias = false;
  a.data_shape = x;
  table.keep(
      std::move(data).finish("conv2d_backward_data_" + name, kConv2dBackwardData, inputs, a));
}

void cases(CaseTable& table) {
  struct Row {
    const char* name;
    Shape x;  // N, C, H, W
    Shape w;  // K, C, R, S
    int stride, pad;
  };
  const Row rows[] = {
      {"square_3x3", {2, 3, 8, 8}, {4, 3, 3, 3}, 1, 1},
      {"odd_width", {1, 5, 7, 9}, {6, 5, 3, 3}, 1, 1},
      {"strided_3x3", {2, 4, 9, 7}, {5, 4, 3, 3}, 2, 1},
      {"stride_leaves_rest", {2, 3, 8, 6}, {3, 3, 3, 3}, 2, 0},
      {"1x1", {3, 8, 5, 5}, {16, 8, 1, 1}, 1, 0},
      {"strided_1x1", {2, 8, 6, 7}, {16, 8, 1, 1}, 2, 0},
      {"one_channel_5x5", {2, 1, 12, 12}, {20, 1, 5, 5}, 1, 0},
      {"kernel_is_image", {1, 2, 5, 5}, {3, 2, 5, 5}, 1, 0},
      {"oblong_kernel", {2, 3, 6, 8}, {4, 3, 1, 5}, 1, 0},
      {"wide_pad", {1, 2, 4, 5}, {3, 2, 3, 3}, 3, 2},
      {"one_pixel", {1, 1, 1, 1}, {1, 1, 1, 1}, 1, 0},
      {"stem_7x7", {1, 3, 16, 18}, {16, 3, 7, 7}, 2, 3},
  };
  for (const Row& row : rows) {
    ConvAttributes attributes;
    attributes.stride = row.stride;
    attributes.pad = row.pad;
    add_cases(table, row.name, row.x, row.w, attributes);
  }
}

}  // namespace

const Operation kConv2d = {.name = "conv2d",
                           .infer = infer_forward,
                           .reference = forward,
                           .text = text,
                           .gradient = gradient,
                           .multiply_adds = forward_multiply_adds,
                           .checks = {.cases = cases}};
const Operation kConv2dBackwardData = {.name = "conv2d_backward_data",
                                       .infer = infer_backward_data,
                                       .reference = backward_data,
                                       .text = text,
                                       .multiply_adds = backward_data_multiply_adds};
const Operation kConv2dBackwardFilter = {.name = "conv2d_backward_filter",
                                         .infer = infer_backward_filter,
                                         .reference = backward_filter,
                                         .text = text,
                                         .multiply_adds = backward_filter_multiply_adds};

}  // namespace winnow::train
