#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "common/error.h"
#include "train/onnx/onnx_nodes_internal.h"
#include "train/ops/activation.h"
#include "train/ops/attention.h"
#include "train/ops/batch_norm.h"
#include "train/ops/concat.h"
#include "train/ops/conv2d.h"
#include "train/ops/elementwise.h"
#include "train/ops/group_norm.h"
#include "train/ops/grouped_conv2d.h"
#include "train/ops/layer_norm.h"
#include "train/ops/linear.h"
#include "train/ops/local_response_norm.h"
#include "train/ops/normalize_input.h"
#include "train/ops/pooling.h"
#include "train/ops/scale.h"
#include "train/ops/tokens.h"

namespace winnow::train::onnx {
namespace {

std::string normalize_input(const Source& source, Nodes& to) {
  const auto& normalize = attributes_of<NormalizeAttributes>(source.node);
  std::vector<float> mean;
  std::vector<float> deviation;  // both on the scale 0 to 255
  for (const float value : normalize.mean) mean.push_back(255 * value);
  for (const float value : normalize.stddev) deviation.push_back(255 * value);
  const Shape each{1, static_cast<std::int64_t>(mean.size()), 1, 1};
  const std::string& layer = source.node.name;
  const std::string x = to.add("Cast", layer, {source.input(0)}, {{"to", kFloat}});
  const std::string centred = to.add("Sub", layer, {x, to.constant(each, mean)});
  return to.add("Div", layer, {centred, to.constant(each, deviation)});
}

// Number of zeros needed after the data along one axis, so that the last of `windows` windows is
// complete.
std::int64_t pad_after(std::int64_t size, std::int64_t windows, std::int64_t kernel,
                       const ConvAxis& axis) {
  const std::int64_t end = (windows - 1) * axis.stride + span_of(kernel, axis) - axis.before;
  return std::max<std::int64_t>(0, end - size);
}

// How windows move over images. Padding follows from the shapes, so that ONNX does no rounding.
std::vector<Attribute> windows(const Source& source, std::int64_t kernel_h, std::int64_t kernel_w,
                               const ConvAxes& axes) {
  const auto& [rows, columns] = axes;
  const Shape& x = source.shape(0);
  const Shape& y = source.output_shape();
  return {{"kernel_shape", Integers{kernel_h, kernel_w}},
          {"strides", Integers{rows.stride, columns.stride}},
          {"pads", Integers{rows.before, columns.before, pad_after(x[2], y[2], kernel_h, rows),
                            pad_after(x[3], y[3], kernel_w, columns)}}};
}

std::string convolution(const Source& source, Nodes& to, const ConvAttributes& conv,
                        std::int64_t groups) {
  Shape w = source.shape(1);
  Names inputs{source.input(0), source.input(1)};
  if (w.size() == 2) {  // a linear layer at each pixel
    w = {w[0], w[1], 1, 1};
    inputs[1] = to.add("Reshape", source.node.name, {inputs[1], to.constant(w)});
  }
  if (conv.bias) inputs.push_back(source.input(2));
  std::vector<Attribute> attributes = windows(source, w[2], w[3], conv.axes);
  attributes.push_back(
      {"dilations", Integers{conv.axes.rows.dilation, conv.axes.columns.dilation}});
  attributes.push_back({"group", groups});
  return to.add("Conv", source.node.name, inputs, attributes);
}

std::string conv2d(const Source& source, Nodes& to) {
  return convolution(source, to, attributes_of<ConvAttributes>(source.node), 1);
}

std::string grouped_conv2d(const Source& source, Nodes& to) {
  const auto& conv = attributes_of<GroupedConvAttributes>(source.node);
  return convolution(source, to, conv, conv.groups);
}

std::string linear(const Source& source, Nodes& to) {
  const std::string& layer = source.node.name;
  Names inputs{source.input(0), source.input(1)};
  if (source.shape(0).size() != 2) inputs[0] = to.add("Flatten", layer, {inputs[0]});
  if (attributes_of<LinearAttributes>(source.node).bias) inputs.push_back(source.input(2));
  return to.add("Gemm", layer, inputs, {{"transB", 1}});
}

std::string batch_norm(const Source& source, Nodes& to) {
  const auto& norm = attributes_of<NormAttributes>(source.node);
  const std::string& layer = source.node.name;
  const Names inputs{source.input(0), source.input(1), source.input(2), source.input(3),
                     source.input(4)};
  std::string y =
      to.add("BatchNormalization", layer, inputs, {{"epsilon", static_cast<float>(norm.epsilon)}});
  if (norm.residual) y = to.add("Add", layer, {y, source.input(5)});
  return norm.relu ? to.add("Relu", layer, {y}) : y;
}

// Each group becomes a channel of an instance norm; then each channel gets its scale and shift.
std::string group_norm(const Source& source, Nodes& to) {
  const auto& norm = attributes_of<GroupNormAttributes>(source.node);
  const std::string& layer = source.node.name;
  const Shape& x = source.shape(0);
  const auto groups = static_cast<std::size_t>(norm.groups);
  const std::string grouped =
      to.add("Reshape", layer, {source.input(0), to.constant({0, norm.groups, -1})});
  const std::string ones = to.constant({norm.groups}, std::vector<float>(groups, 1));
  const std::string zeros = to.constant({norm.groups}, std::vector<float>(groups, 0));
  const std::string normed = to.add("InstanceNormalization", layer, {grouped, ones, zeros},
                                    {{"epsilon", static_cast<float>(norm.epsilon)}});
  Shape back = x;
  back[0] = 0;  // 0: unchanged
  const std::string y = to.add("Reshape", layer, {normed, to.constant(back)});
  Shape channel(x.size() - 1, 1);
  channel[0] = x[1];
  const std::string scale = to.add("Reshape", layer, {source.input(1), to.constant(channel)});
  const std::string shift = to.add("Reshape", layer, {source.input(2), to.constant(channel)});
  return to.add("Add", layer, {to.add("Mul", layer, {y, scale}), shift});
}

// ONNX normalises over the last axis.
std::string layer_norm(const Source& source, Nodes& to) {
  const auto& norm = attributes_of<LayerNormAttributes>(source.node);
  const std::string& layer = source.node.name;
  const bool image = source.shape(0).size() == 4;
  const std::string x =
      image ? to.add("Transpose", layer, {source.input(0)}, {{"perm", Integers{0, 2, 3, 1}}})
            : source.input(0);
  const std::string y = to.add("LayerNormalization", layer, {x, source.input(1), source.input(2)},
                               {{"epsilon", static_cast<float>(norm.epsilon)}});
  return image ? to.add("Transpose", layer, {y}, {{"perm", Integers{0, 3, 1, 2}}}) : y;
}

std::string local_response_norm(const Source& source, Nodes& to) {
  const auto& norm = attributes_of<LocalResponseNormAttributes>(source.node);
  if (norm.size % 2 == 0) {
    throw UsageError("'" + source.node.name + "' normalises over " + std::to_string(norm.size) +
                     " channels; for even numbers ONNX centres the window differently, so it "
                     "cannot be exported");
  }
  return to.add("LRN", source.node.name, {source.input(0)},
                {{"size", norm.size},
                 {"alpha", static_cast<float>(norm.alpha)},
                 {"beta", static_cast<float>(norm.beta)},
                 {"bias", static_cast<float>(norm.k)}});
}

std::vector<Attribute> pool_windows(const Source& source) {
  const auto& pool = attributes_of<PoolAttributes>(source.node);
  return windows(source, pool.kernel_h, pool.kernel_w, both_axes(pool.stride, pool.pad));
}

std::string max_pool(const Source& source, Nodes& to) {
  return to.add("MaxPool", source.node.name, {source.input(0)}, pool_windows(source));
}

std::string avg_pool(const Source& source, Nodes& to) {
  std::vector<Attribute> attributes = pool_windows(source);
  attributes.push_back({"count_include_pad", 1});
  return to.add("AveragePool", source.node.name, {source.input(0)}, attributes);
}

std::string relu(const Source& source, Nodes& to) {
  return to.add("Relu", source.node.name, {source.input(0)});
}

std::string add(const Source& source, Nodes& to) {
  return to.add("Add", source.node.name, {source.input(0), source.input(1)});
}

std::string activation(const Source& source, Nodes& to) {
  const std::string& layer = source.node.name;
  const std::string& x = source.input(0);
  const auto number = [&](double value) {
    return to.constant(Shape{}, {static_cast<float>(value)});
  };
  switch (attributes_of<ActivationAttributes>(source.node).kind) {
    case ActivationKind::kRelu6:
      return to.add("Clip", layer, {x, number(0), number(6)});
    case ActivationKind::kSigmoid:
      return to.add("Sigmoid", layer, {x});
    case ActivationKind::kHardSigmoid:
      return to.add("HardSigmoid", layer, {x}, {{"alpha", 1.0F / 6}, {"beta", 0.5F}});
    case ActivationKind::kHardSwish:
      return to.add("HardSwish", layer, {x});
    case ActivationKind::kSilu:
      return to.add("Mul", layer, {x, to.add("Sigmoid", layer, {x})});
    case ActivationKind::kGelu:
      break;
  }
  const std::string scaled = to.add("Mul", layer, {x, number(1 / std::numbers::sqrt2)});
  const std::string twice = to.add("Add", layer, {to.add("Erf", layer, {scaled}), number(1)});
  return to.add("Mul", layer, {to.add("Mul", layer, {x, number(0.5)}), twice});
}

std::string scale(const Source& source, Nodes& to) {
  const std::string& layer = source.node.name;
  const Shape& x = source.shape(0);
  Shape factor = source.shape(1);
  std::string name = source.input(1);
  if (x.size() == 4 && factor.size() == 2) {
    name = to.add("Unsqueeze", layer, {name, to.constant(Integers{2, 3})});
  } else if (x.size() == 2 && factor.size() == 4) {
    name = to.add("Flatten", layer, {name});
  } else if (x.size() == 2 && factor.size() == 3) {
    name = to.add("Reshape", layer, {name, to.constant(Integers{factor[0]})});
  }
  return to.add("Mul", layer, {source.input(0), name});
}

std::string concat(const Source& source, Nodes& to) {
  Names inputs;
  for (std::size_t i = 0; i < source.node.inputs.size(); ++i) inputs.push_back(source.input(i));
  return to.add("Concat", source.node.name, inputs, {{"axis", 1}});
}

// `count` elements of an axis, starting at `first`.
std::string part_of(const std::string& x, std::int64_t axis, std::int64_t first, std::int64_t count,
                    const std::string& layer, Nodes& to) {
  return to.add("Slice", layer,
                {x, to.constant(Integers{first}), to.constant(Integers{first + count}),
                 to.constant(Integers{axis})});
}

std::string slice(const Source& source, Nodes& to) {
  const auto& part = attributes_of<SliceAttributes>(source.node);
  return part_of(source.input(0), 1, part.first, part.channels, source.node.name, to);
}

std::string attention(const Source& source, Nodes& to) {
  const std::string& layer = source.node.name;
  const std::int64_t heads = attributes_of<AttentionAttributes>(source.node).heads;
  const Shape& y = source.output_shape();
  const std::int64_t width = y[1] / heads;
  // (N,heads,width,tokens)
  const auto matrices = [&](std::int64_t which) {
    const std::string x = part_of(source.input(0), 1, which * y[1], y[1], layer, to);
    return to.add("Reshape", layer, {x, to.constant({0, heads, width, y[2] * y[3]})});
  };
  const auto transposed = [&](const std::string& x) {
    return to.add("Transpose", layer, {x}, {{"perm", Integers{0, 1, 3, 2}}});
  };
  const std::string q = transposed(matrices(0));
  const auto factor = static_cast<float>(1 / std::sqrt(static_cast<double>(width)));
  const std::string scores = to.add(
      "Mul", layer, {to.add("MatMul", layer, {q, matrices(1)}), to.constant(Shape{}, {factor})});
  const std::string shares = to.add("Softmax", layer, {scores}, {{"axis", -1}});
  const std::string values = to.add("MatMul", layer, {matrices(2), transposed(shares)});
  return to.add("Reshape", layer, {values, to.constant({0, y[1], y[2], y[3]})});
}

// Both are padded to the same shape: zeros for the class token, and zeros for the patches.
std::string tokens(const Source& source, Nodes& to) {
  const std::string& layer = source.node.name;
  const Shape& y = source.output_shape();
  const std::int64_t patches = y[2] - 1;
  const auto last_axis_second = [&](const std::string& x) {
    return to.add("Transpose", layer, {x}, {{"perm", Integers{0, 2, 1}}});
  };
  const std::string x =
      to.add("Reshape", layer, {source.input(0), to.constant({0, y[1], patches})});
  const std::string behind = to.add("Pad", layer, {x, to.constant({0, 0, 1, 0, 0, 0})});
  const std::string first = to.add(
      "Pad", layer, {last_axis_second(source.input(1)), to.constant({0, 0, 0, 0, 0, patches})});
  const std::string all = to.add("Add", layer, {behind, first});
  const std::string placed = to.add("Add", layer, {all, last_axis_second(source.input(2))});
  return to.add("Reshape", layer, {placed, to.constant({0, y[1], y[2], y[3]})});
}

std::string select_token(const Source& source, Nodes& to) {
  const std::string& layer = source.node.name;
  return to.add("Flatten", layer, {part_of(source.input(0), 2, 0, 1, layer, to)});
}

struct Row {
  const Operation* op;
  std::string (*write)(const Source& source, Nodes& to);
};
// One row for each operation that a net can have in inference.
constexpr auto kRows = std::to_array<Row>({
    {&kNormalizeInput, normalize_input},
    {&kConv2d, conv2d},
    {&kGroupedConv2d, grouped_conv2d},
    {&kLinear, linear},
    {&kBatchNormInference, batch_norm},
    {&kGroupNorm, group_norm},
    {&kLayerNorm, layer_norm},
    {&kMaxPool, max_pool},
    {&kAvgPool, avg_pool},
    {&kRelu, relu},
    {&kAdd, add},
    {&kActivation, activation},
    {&kScale, scale},
    {&kConcat, concat},
    {&kSlice, slice},
    {&kLocalResponseNorm, local_response_norm},
    {&kAttention, attention},
    {&kTokens, tokens},
    {&kSelectToken, select_token},
});

}  // namespace

std::string write_node(const Source& source, Nodes& to) {
  const auto row = std::ranges::find(kRows, source.node.op, &Row::op);
  if (row == kRows.end()) {
    throw UsageError(
        "'" + source.node.name + "' is " + std::string(op_name(source.node.op)) +
        ", which winnow cannot export to ONNX yet; use the safetensors file of a checkpoint");
  }
  return row->write(source, to);
}

}  // namespace winnow::train::onnx
