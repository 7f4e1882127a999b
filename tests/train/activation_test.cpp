#include "train/ops/activation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/train/activation_golden.h"
#include "tests/train/net_options.h"
#include "tests/train/run_operation.h"
#include "train/nets/activation.h"
#include "train/rewrites/rewrites.h"

namespace winnow::train {
namespace {

using testing::DoubleNear;
using testing::HasSubstr;
using testing::Pointwise;

TEST(Activation, IsPytorchs) {
  const std::vector<double> places(std::begin(test::kActivationPlaces),
                                   std::end(test::kActivationPlaces));
  const Shape shape = {1, static_cast<std::int64_t>(places.size())};
  const std::vector<double> ones(places.size(), 1.0);
  for (const test::ActivationGolden& golden : test::kActivationGolden) {
    SCOPED_TRACE(name_of(golden.kind));
    const ActivationAttributes attributes{golden.kind};
    const auto y = outputs_of(kActivation, {{shape, places}}, attributes);
    EXPECT_THAT(y[0], Pointwise(DoubleNear(1e-14), golden.y));
    const auto dx = outputs_of(kActivationBackward, {{shape, places}, {shape, ones}}, attributes);
    // PyTorch has 1/6 in f32.
    EXPECT_THAT(dx[0], Pointwise(DoubleNear(1e-8), golden.slope));
  }
}

TEST(Activation, IsALayerWithoutParametersThatRewritesLeaveAlone) {
  NetOptions options = square_images(8);
  options.batch = 2;
  NetBuilder net(options);
  ValueId x = net.batch_norm("bn", net.conv("conv", net.image(), {.filters = 6}));
  x = activation(net, "act", x, ActivationKind::kHardSwish);
  x = net.linear("fc", net.global_average_pool("pool", x), options.classes);
  const Graph graph = std::move(net).finish(x);
  EXPECT_THAT(to_text(graph), HasSubstr(" = activation(%"));
  EXPECT_THAT(to_text(graph), HasSubstr(") hard_swish -> (2,6,8,8)"));
  EXPECT_EQ(to_text(fuse(graph)), to_text(graph));
  EXPECT_THAT(to_text(differentiate(graph)), HasSubstr(" = activation_backward(%"));
}

}  // namespace
}  // namespace winnow::train
