#include "train/ops/group_norm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/train/golden_tensors.h"
#include "tests/train/net_options.h"
#include "tests/train/run_operation.h"
#include "train/nets/group_norm.h"
#include "train/rewrites/rewrites.h"

namespace winnow::train::group_norm_test {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pointwise;

TEST(GroupNorm, IsPytorchs) {
  for (const JsonReader& row : test::vectors("train/group_norm", "cases")) {
    const int groups = row.at("groups").number<int>();
    SCOPED_TRACE(groups);
    const GroupNormAttributes norm{groups, row.at("epsilon").real()};
    const Given x = given(row.at("x"));
    const Given scale = given(row.at("scale"));
    const auto y = outputs_of(kGroupNorm, {x, scale, given(row.at("shift"))}, norm);
    EXPECT_THAT(y[0], Pointwise(DoubleNear(1e-12), given(row.at("y")).numbers));
    const Shape statistics = {x.shape[0], groups};
    const auto dx =
        outputs_of(kGroupNormBackward,
                   {x, scale, {statistics, y[1]}, {statistics, y[2]}, given(row.at("dy"))}, norm);
    EXPECT_THAT(dx[0], Pointwise(DoubleNear(1e-10), given(row.at("dx")).numbers));
    EXPECT_THAT(dx[1], Pointwise(DoubleNear(1e-11), given(row.at("dscale")).numbers));
    EXPECT_THAT(dx[2], Pointwise(DoubleNear(1e-12), given(row.at("dshift")).numbers));
  }
}

Graph net_with_group_norm(int groups) {
  NetOptions options = square_images(8);
  options.batch = 2;
  NetBuilder net(options);
  ValueId x = net.conv("conv", net.image(), {.filters = 6, .kernel = 3, .pad = 1});
  x = net.relu("relu", group_norm(net, "norm", x, groups));
  x = net.linear("fc", net.global_average_pool("pool", x), options.classes);
  return std::move(net).finish(x);
}

TEST(GroupNorm, IsALayerWithTwoParametersAndNoBuffers) {
  const Graph graph = net_with_group_norm(3);
  EXPECT_THAT(graph.value(graph.find("norm.weight")).shape, ElementsAre(6));
  EXPECT_EQ(graph.value(graph.find("norm.weight")).init, Init::kOnes);
  EXPECT_EQ(graph.value(graph.find("norm.bias")).init, Init::kZeros);
  EXPECT_FALSE(graph.value(graph.find("norm.weight")).decay);
  EXPECT_TRUE(graph.of_kind(ValueKind::kBuffer).empty());
  EXPECT_THAT(graph.value(graph.find("norm.mean")).shape, ElementsAre(2, 3));
  EXPECT_THAT(to_text(graph), HasSubstr("group_norm(%5, %6, %7) groups=3 epsilon=1e-05"));
}

// Group norm has no running statistics, so rewrites leave it unchanged.
TEST(GroupNorm, IsTheSameInEvaluation) {
  const Graph graph = net_with_group_norm(2);
  EXPECT_EQ(to_text(fuse(graph)), to_text(graph));
  EXPECT_EQ(to_text(for_inference(graph)), to_text(graph));
}

TEST(GroupNorm, RefusesGroupsThatDoNotDivideTheChannels) {
  for (const int groups : {0, -1, 4, 12}) {
    EXPECT_THAT([&] { net_with_group_norm(groups); },
                testing::ThrowsMessage<ShapeError>(
                    HasSubstr(std::to_string(groups) + " groups must divide the 6 channels")));
  }
}

}  // namespace winnow::train::group_norm_test
