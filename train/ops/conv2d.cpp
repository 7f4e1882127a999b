#include "train/ops/conv2d.h"

#include <string>

#include "train/graph/text.h"
#include "train/ops/convolution.h"
#include "train/ops/products.h"

namespace winnow::train {
namespace {

// "2", or "2x1" if the axes differ.
std::string by_axis(int rows, int columns) {
  return number_text(rows) + (rows == columns ? "" : "x" + number_text(columns));
}

std::string text(const Attributes& attributes) {
  const auto& conv = *attributes.find<ConvAttributes>();
  return to_string(conv.axes, "=") + (conv.bias ? " bias" : "");
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
      {"square_3x3", {2, 3, 8, 8}, {4, 3, 3, 3}, both_axes(1, 1)},
      {"odd_width", {1, 5, 7, 9}, {6, 5, 3, 3}, both_axes(1, 1)},
      {"strided_3x3", {2, 4, 9, 7}, {5, 4, 3, 3}, both_axes(2, 1)},
      {"stride_leaves_rest", {2, 3, 8, 6}, {3, 3, 3, 3}, both_axes(2, 0)},
      {"1x1", {3, 8, 5, 5}, {16, 8, 1, 1}, both_axes(1, 0)},
      {"strided_1x1", {2, 8, 6, 7}, {16, 8, 1, 1}, both_axes(2, 0)},
      {"one_channel_5x5", {2, 1, 12, 12}, {20, 1, 5, 5}, both_axes(1, 0)},
      {"kernel_is_image", {1, 2, 5, 5}, {3, 2, 5, 5}, both_axes(1, 0)},
      {"oblong_kernel", {2, 3, 6, 8}, {4, 3, 1, 5}, both_axes(1, 0)},
      {"wide_pad", {1, 2, 4, 5}, {3, 2, 3, 3}, both_axes(3, 2)},
      {"pointwise", {2, 8, 5, 6}, {16, 8}, both_axes(1, 0)},
      {"one_pixel", {1, 1, 1, 1}, {1, 1, 1, 1}, both_axes(1, 0)},
      {"stem_7x7", {1, 3, 16, 18}, {16, 3, 7, 7}, both_axes(2, 3)},
      {"dilated", {2, 3, 9, 8}, {4, 3, 3, 3}, both_axes(1, 2, 2)},
      {"dilated_strided", {1, 4, 11, 10}, {5, 4, 3, 3}, both_axes(2, 3, 3)},
      {"column_kernel", {2, 4, 8, 6}, {6, 4, 7, 1}, {{1, 3, 3}, {}}},
      {"row_kernel", {2, 16, 5, 9}, {32, 16, 1, 7}, {{}, {1, 3, 3}}},
      {"strides_differ", {2, 3, 9, 8}, {4, 3, 3, 3}, {{2, 1, 1}, {1, 1, 1}}},
      {"pads_differ", {2, 3, 6, 7}, {4, 3, 3, 2}, {{1, 0, 2}, {1, 1, 0}}},
      {"all_differ", {1, 5, 12, 9}, {3, 5, 3, 2}, {{2, 3, 1, 2}, {1, 0, 2, 3}}},
  };
  for (const ConvolutionCase& row : rows) add_convolution_cases(table, operations, row);
}

}  // namespace

std::string to_string(const ConvAxes& axes, std::string_view equals) {
  const auto& [rows, columns] = axes;
  const auto named = [&](const char* name, const std::string& value) {
    return name + std::string(equals) + value;
  };
  const bool even = rows.before == rows.after && columns.before == columns.after;
  const std::string pad = even ? by_axis(rows.before, columns.before)
                               : number_text(rows.before) + "," + number_text(rows.after) + "," +
                                     number_text(columns.before) + "," + number_text(columns.after);
  const bool dilated = rows.dilation != 1 || columns.dilation != 1;
  return named(" stride", by_axis(rows.stride, columns.stride)) + named(" pad", pad) +
         (dilated ? named(" dilation", by_axis(rows.dilation, columns.dilation)) : "");
}

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
