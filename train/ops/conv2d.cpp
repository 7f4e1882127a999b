#include "train/ops/conv2d.h"

#include <string>

#include "train/graph/text.h"
#include "train/ops/convolution.h"
#include "train/ops/products.h"

namespace winnow::train {
namespace {

std::string text(const Attributes& attributes) {
  const auto& conv = *attributes.find<ConvAttributes>();
  return " stride=" + number_text(conv.stride) + " pad=" + number_text(conv.pad) +
         (conv.bias ? " bias" : "");
}

template <auto kInfer>
std::vector<Value> infer_as(const ShapeInference& in) {
  return kInfer(in, in.attributes<ConvAttributes>(), 1);
}

template <auto kConvolve>
void convolve_as(const ReferenceOperands& operands) {
  kConvolve(operands, operands.attributes<ConvAttributes>());
}

void gradient(GradientBuilder& builder, const Node& node) {
  const auto attributes = backward_attributes(builder, node, attributes_of<ConvAttributes>(node));
  product_gradient(builder, node, attributes, kConv2dBackwardFilter, kConv2dBackwardData);
}

Attributes case_attributes(const ConvAttributes& conv, std::int64_t) { return conv; }

void cases(CaseTable& table) {
  const ConvolutionOperations operations = {kConv2d, kConv2dBackwardData, kConv2dBackwardFilter,
                                            case_attributes};
  const ConvolutionCase rows[] = {
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
      {"pointwise", {2, 8, 5, 6}, {16, 8}, 1, 0},
      {"one_pixel", {1, 1, 1, 1}, {1, 1, 1, 1}, 1, 0},
      {"stem_7x7", {1, 3, 16, 18}, {16, 3, 7, 7}, 2, 3},
  };
  for (const ConvolutionCase& row : rows) add_convolution_cases(table, operations, row);
}

}  // namespace

const Operation kConv2d = {.name = "conv2d",
                           .infer = infer_as<infer_convolution>,
                           .reference = convolve_as<convolve>,
                           .text = text,
                           .gradient = gradient,
                           .multiply_adds = forward_multiply_adds,
                           .checks = {.cases = cases}};
const Operation kConv2dBackwardData = {.name = "conv2d_backward_data",
                                       .infer = infer_as<infer_convolution_data>,
                                       .reference = convolve_as<convolve_data>,
                                       .text = text,
                                       .multiply_adds = backward_data_multiply_adds};
const Operation kConv2dBackwardFilter = {.name = "conv2d_backward_filter",
                                         .infer = infer_as<infer_convolution_filter>,
                                         .reference = convolve_as<convolve_filter>,
                                         .text = text,
                                         .multiply_adds = backward_filter_multiply_adds};

}  // namespace winnow::train
