#include "train/ops/grouped_conv2d.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/train/golden_tensors.h"
#include "tests/train/net_options.h"
#include "tests/train/run_operation.h"
#include "train/nets/grouped_conv.h"
#include "train/ops/conv2d.h"
#include "train/rewrites/rewrites.h"

namespace winnow::train::grouped_conv2d_test {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pointwise;

ConvAxis axis_of(const JsonReader& axis) {
  return {axis.at("stride").number<int>(), axis.at("before").number<int>(),
          axis.at("after").number<int>(), axis.at("dilation").number<int>()};
}

TEST(GroupedConv2d, IsPytorchs) {
  for (const JsonReader& row : test::vectors("train/grouped_conv", "cases")) {
    const Given x = given(row.at("x"));
    const Given w = given(row.at("w"));
    const Given b = given(row.at("b"));
    const Given dy = given(row.at("dy"));
    GroupedConvAttributes conv;
    conv.axes = {axis_of(row.at("rows")), axis_of(row.at("columns"))};
    conv.groups = row.at("groups").number<int>();
    SCOPED_TRACE(conv.groups);
    conv.data_shape = x.shape;
    conv.filter_shape = w.shape;
    const auto dx = outputs_of(kGroupedConv2dBackwardData, {dy, w}, conv);
    EXPECT_THAT(dx[0], Pointwise(DoubleNear(1e-12), given(row.at("dx")).numbers));
    conv.bias = true;
    const auto y = outputs_of(kGroupedConv2d, {x, w, b}, conv);
    EXPECT_THAT(y[0], Pointwise(DoubleNear(1e-12), given(row.at("y")).numbers));
    const auto dw = outputs_of(kGroupedConv2dBackwardFilter, {x, dy}, conv);
    EXPECT_THAT(dw[0], Pointwise(DoubleNear(1e-12), given(row.at("dw")).numbers));
    EXPECT_THAT(dw[1], Pointwise(DoubleNear(1e-12), given(row.at("db")).numbers));
    if (conv.groups > 1) continue;
    const ConvAttributes& plain = conv;
    EXPECT_EQ(outputs_of(kConv2d, {x, w, b}, plain), y);
    EXPECT_EQ(outputs_of(kConv2dBackwardFilter, {x, dy}, plain), dw);
  }
}

NetBuilder some_net() {
  NetOptions options = square_images(8);
  options.batch = 2;
  return NetBuilder(options);
}

// A depthwise and a pointwise convolution, as in MobileNet.
TEST(GroupedConv2d, IsALayerWithSmallFilters) {
  NetBuilder net = some_net();
  ValueId x = grouped_conv(net, "depthwise", net.image(),
                           {.filters = 6, .kernel = 3, .pad = 1, .bias = true}, 3);
  x = net.conv("pointwise", net.relu("relu", x), {.filters = 4});
  x = net.linear("fc", net.global_average_pool("pool", x), 10);
  const Graph graph = std::move(net).finish(x);
  const Value& weight = graph.value(graph.find("depthwise.weight"));
  EXPECT_THAT(weight.shape, ElementsAre(6, 1, 3, 3));
  EXPECT_TRUE(weight.decay);
  EXPECT_EQ(graph.value(graph.find("depthwise.bias")).fan_in, 9);
  EXPECT_THAT(to_text(graph), HasSubstr("grouped_conv2d(%3, %4, %5) stride=1 pad=1 groups=3 bias"));
  const double macs = 2.0 * 64 * (6 * 9 + 6 * 4) + 2 * 4 * 10;
  EXPECT_EQ(count(graph).flops, 2 * macs);
  // The backward pass costs twice the forward one, less the gradient of the pixels.
  EXPECT_EQ(count(differentiate(graph)).flops, 2 * (3 * macs - 2.0 * 64 * 6 * 9));
}

// Values equal along both axes are written once; 1 is omitted.
TEST(ConvAxes, AreWrittenAsTheyDiffer) {
  const auto text = [](const ConvAxes& axes) { return to_string(axes, "="); };
  EXPECT_EQ(text({}), " stride=1 pad=0");
  EXPECT_EQ(text(both_axes(2, 3)), " stride=2 pad=3");
  EXPECT_EQ(text(both_axes(1, 2, 2)), " stride=1 pad=2 dilation=2");
  EXPECT_EQ(text({{2, 3, 3}, {}}), " stride=2x1 pad=3x0");
  EXPECT_EQ(text({{2, 3, 1, 2}, {1, 0, 2, 3}}), " stride=2x1 pad=3,1,0,2 dilation=2x3");
  EXPECT_EQ(to_string(both_axes(2, 3), ""), " stride2 pad3");
}

TEST(ConvAxes, AreRefusedWhereNoWindowFits) {
  const Given x = {{1, 1, 5, 5}, std::vector<double>(25)};
  const Given w = {{1, 1, 3, 3}, std::vector<double>(9)};
  const auto refuses = [&](const ConvAxes& axes, const std::string& words) {
    ConvAttributes conv;
    conv.axes = axes;
    EXPECT_THAT(
        [&] {
          outputs_of(kConv2d, {x, w}, conv);
        },
        testing::ThrowsMessage<ShapeError>(HasSubstr(words)));
  };
  refuses(both_axes(1, 0, 0), "dilation 0 must be at least 1");
  refuses(both_axes(1, 0, 3), "a kernel of 7 does not fit into 5 elements padded by 0");
  refuses({{1, 1, 0, 3}, {}}, "a kernel of 7 does not fit into 5 elements padded by 1 and 0");
  refuses({{}, {0}}, "stride 0 must be at least 1");
  refuses({{}, {1, 0, -1}}, "pad -1 must not be negative");
}

TEST(ConvAxes, ADilatedLayerCountsWhatItMultiplies) {
  NetBuilder net = some_net();
  const NetBuilder::Conv dilated = {.filters = 6, .kernel = 3, .pad = 2, .dilation = 2};
  ValueId x = grouped_conv(net, "c", net.conv("b", net.image(), dilated), dilated, 3);
  x = net.linear("fc", net.global_average_pool("pool", x), 10);
  const Graph graph = std::move(net).finish(x);
  EXPECT_THAT(to_text(graph), HasSubstr(" stride=1 pad=2 dilation=2 -> (2,6,8,8)"));
  EXPECT_THAT(to_text(graph), HasSubstr(" stride=1 pad=2 dilation=2 groups=3 -> (2,6,8,8)"));
  EXPECT_EQ(count(graph).flops, 2 * (2.0 * 64 * 6 * 9 * (3 + 2) + 2 * 6 * 10));
}

TEST(GroupedConv2d, RefusesGroupsThatDoNotDivide) {
  const auto says = [](const std::string& words) {
    return testing::ThrowsMessage<ShapeError>(HasSubstr(words));
  };
  for (const int groups : {-1, 0, 2, 4, 9}) {
    NetBuilder net = some_net();
    EXPECT_THAT([&] { grouped_conv(net, "c", net.image(), {.filters = 6, .kernel = 3}, groups); },
                says(std::to_string(groups) + " groups must divide the 3 channels"));
  }
  NetBuilder net = some_net();
  EXPECT_THAT([&] { grouped_conv(net, "c", net.image(), {.filters = 4, .kernel = 3}, 3); },
              says("and the 4 filters"));
  const Given x = {{1, 4, 3, 3}, std::vector<double>(36)};
  const Given w = {{4, 4, 1, 1}, std::vector<double>(16)};
  GroupedConvAttributes conv;
  conv.groups = 2;
  EXPECT_THAT([&] { outputs_of(kGroupedConv2d, {x, w}, conv); }, says("is 4, wanted 2"));
}

}  // namespace winnow::train::grouped_conv2d_test
