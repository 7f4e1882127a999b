#include "train/ops/activation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/common/vectors.h"
#include "tests/train/net_options.h"
#include "tests/train/run_operation.h"
#include "train/nets/activation.h"
#include "train/rewrites/rewrites.h"

namespace winnow::train::activation_test {

using testing::DoubleNear;
using testing::HasSubstr;
using testing::Pointwise;

ActivationKind kind_named(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(ActivationKind::kGelu); ++i) {
    const auto kind = static_cast<ActivationKind>(i);
    if (name_of(kind) == name) return kind;
  }
  throw std::invalid_argument("no activation is called " + name);
}

TEST(Activation, IsPytorchs) {
  for (const JsonReader& row : test::vectors("train/activation", "curves")) {
    const std::string kind = row.at("kind").text();
    SCOPED_TRACE(kind);
    const std::vector<double> places = test::reals(row.at("x"));
    const Shape shape = {1, static_cast<std::int64_t>(places.size())};
    const std::vector<double> ones(places.size(), 1.0);
    const ActivationAttributes attributes{kind_named(kind)};
    const auto y = outputs_of(kActivation, {{shape, places}}, attributes);
    EXPECT_THAT(y[0], Pointwise(DoubleNear(1e-14), test::reals(row.at("y"))));
    const auto dx = outputs_of(kActivationBackward, {{shape, places}, {shape, ones}}, attributes);
    // PyTorch computes with 1/6 in f32.
    EXPECT_THAT(dx[0], Pointwise(DoubleNear(1e-8), test::reals(row.at("slope"))));
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

}  // namespace winnow::train::activation_test
