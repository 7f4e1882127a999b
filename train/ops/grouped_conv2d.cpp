#include "train/ops/grouped_conv2d.h"

#include <string>

#include "train/graph/text.h"
#include "train/ops/convolution.h"
#include "train/ops/products.h"

namespace winnow::train {
namespace {

std::string text(const Attributes& attributes) {
  const auto& conv = *attributes.find<GroupedConvAttributes>();
  return to_string(conv.axes, "=") + " groups=" + number_text(conv.groups) +
         (conv.bias ? " bias" : "");
}

template <auto kInfer>
std::vector<Value> infer_as(const ShapeInference& in) {
  const auto& conv = in.attributes<GroupedConvAttributes>();
  return kInfer(in, conv, conv.groups);
}

template <auto kConvolve>
void convolve_as(const ReferenceOperands& operands) {
  kConvolve(operands, operands.attributes<GroupedConvAttributes>());
}

void gradient(GradientBuilder& builder, const Node& node) {
  const auto& conv = attributes_of<GroupedConvAttributes>(node);
  const GroupedConvAttributes attributes{backward_attributes(builder, node, conv), conv.groups};
  product_gradient(builder, node, attributes, kGroupedConv2dBackwardFilter,
                   kGroupedConv2dBackwardData);
}

Attributes case_attributes(const ConvAttributes& conv, std::int64_t groups) {
  return GroupedConvAttributes{conv, static_cast<int>(groups)};
}

void cases(CaseTable& table) {
  const ConvolutionOperations operations = {kGroupedConv2d, kGroupedConv2dBackwardData,
                                            kGroupedConv2dBackwardFilter, case_attributes};
  const ConvolutionCase rows[] = {
      {"one_group", {2, 3, 6, 5}, {4, 3, 3, 3}, both_axes(1, 1)},
      {"two_groups", {2, 4, 7, 6}, {6, 2, 3, 3}, both_axes(1, 1)},
      {"three_strided", {2, 6, 9, 7}, {6, 2, 3, 3}, both_axes(2, 1)},
      {"two_1x1", {2, 8, 5, 5}, {16, 4, 1, 1}, both_axes(1, 0)},
      {"many_groups", {1, 64, 6, 6}, {64, 2, 3, 3}, both_axes(1, 1)},
      {"wide_groups", {2, 32, 5, 4}, {64, 16, 3, 3}, both_axes(1, 1)},
      {"depthwise", {2, 5, 7, 8}, {5, 1, 3, 3}, both_axes(1, 1)},
      {"depthwise_strided", {1, 16, 9, 9}, {16, 1, 3, 3}, both_axes(2, 1)},
      {"depthwise_5x5", {2, 24, 8, 7}, {24, 1, 5, 5}, both_axes(1, 2)},
      {"depthwise_two_each", {2, 3, 6, 6}, {6, 1, 3, 3}, both_axes(1, 1)},
      {"depthwise_oblong", {2, 4, 6, 8}, {4, 1, 1, 5}, both_axes(1, 0)},
      {"depthwise_wide_pad", {1, 2, 4, 5}, {2, 1, 3, 3}, both_axes(3, 2)},
      {"two_dilated", {2, 4, 9, 8}, {6, 2, 3, 3}, both_axes(1, 2, 2)},
      {"depthwise_dilated", {2, 16, 9, 8}, {16, 1, 3, 3}, both_axes(1, 2, 2)},
      {"depthwise_column", {2, 8, 9, 6}, {8, 1, 7, 1}, {{1, 3, 3}, {}}},
      {"two_all_differ", {1, 6, 12, 9}, {4, 3, 3, 2}, {{2, 3, 1, 2}, {1, 0, 2, 3}}},
      {"depthwise_all_differ", {1, 6, 12, 9}, {6, 1, 3, 2}, {{2, 3, 1, 2}, {1, 0, 2, 3}}},
  };
  for (const ConvolutionCase& row : rows) add_convolution_cases(table, operations, row);
}

}  // namespace

const Operation kGroupedConv2d = {.name = "grouped_conv2d",
                                  .infer = infer_as<infer_convolution>,
                                  .reference = convolve_as<convolve>,
                                  .text = text,
                                  .gradient = gradient,
                                  .multiply_adds = forward_multiply_adds,
                                  .checks = {.cases = cases}};
const Operation kGroupedConv2dBackwardData = {.name = "grouped_conv2d_backward_data",
                                              .infer = infer_as<infer_convolution_data>,
                                              .reference = convolve_as<convolve_data>,
                                              .text = text,
                                              .multiply_adds = backward_data_multiply_adds};
const Operation kGroupedConv2dBackwardFilter = {.name = "grouped_conv2d_backward_filter",
                                                .infer = infer_as<infer_convolution_filter>,
                                                .reference = convolve_as<convolve_filter>,
                                                .text = text,
                                                .multiply_adds = backward_filter_multiply_adds};

}  // namespace winnow::train
