#include "train/ops/grouped_conv2d.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/train/grouped_conv_golden.h"
#include "tests/train/net_options.h"
#include "tests/train/run_operation.h"
#include "train/nets/grouped_conv.h"
#include "train/rewrites/rewrites.h"

namespace winnow::train {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pointwise;

TEST(GroupedConv2d, IsPytorchs) {
  for (const test::GroupedConvGolden& golden : test::kGroupedConvGolden) {
    SCOPED_TRACE(golden.groups);
    GroupedConvAttributes conv;
    conv.stride = golden.stride;
    conv.pad = golden.pad;
    conv.groups = golden.groups;
    conv.data_shape = golden.x.shape;
    conv.filter_shape = golden.w.shape;
    const auto dx = outputs_of(kGroupedConv2dBackwardData, {golden.dy, golden.w}, conv);
    EXPECT_THAT(dx[0], Pointwise(DoubleNear(1e-12), golden.dx.numbers));
    conv.bias = true;
    const auto y = outputs_of(kGroupedConv2d, {golden.x, golden.w, golden.b}, conv);
    EXPECT_THAT(y[0], Pointwise(DoubleNear(1e-12), golden.y.numbers));
    const auto dw = outputs_of(kGroupedConv2dBackwardFilter, {golden.x, golden.dy}, conv);
    EXPECT_THAT(dw[0], Pointwise(DoubleNear(1e-12), golden.dw.numbers));
    EXPECT_THAT(dw[1], Pointwise(DoubleNear(1e-12), golden.db.numbers));
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

}  // namespace
}  // namespace winnow::train
