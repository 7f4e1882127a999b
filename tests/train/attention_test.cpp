#include "train/ops/attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>

#include "tests/train/golden_tensors.h"
#include "tests/train/net_options.h"
#include "tests/train/run_operation.h"
#include "train/nets/attention.h"
#include "train/ops/tokens.h"
#include "train/rewrites/rewrites.h"

namespace winnow::train::attention_test {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pointwise;

TEST(Attention, IsPytorchs) {
  for (const JsonReader& row : test::vectors("train/attention", "cases")) {
    const int heads = row.at("heads").number<int>();
    SCOPED_TRACE(heads);
    const AttentionAttributes attributes{heads};
    const Given x = given(row.at("x"));
    EXPECT_THAT(outputs_of(kAttention, {x}, attributes)[0],
                Pointwise(DoubleNear(1e-12), given(row.at("y")).numbers));
    EXPECT_THAT(outputs_of(kAttentionBackward, {x, given(row.at("dy"))}, attributes)[0],
                Pointwise(DoubleNear(1e-12), given(row.at("dx")).numbers));
  }
}

// The scores are 0 and ln 3, so a token mixes a quarter of one value and three quarters of the
// other.
TEST(Attention, MixesValuesByTheSoftmaxOfScores) {
  const double ln3 = std::log(3);
  const Given x = {{1, 3, 2, 1}, {0, 0, 8, 1, ln3, 4}};  // query, key and value of two tokens
  EXPECT_THAT(outputs_of(kAttention, {x}, AttentionAttributes{1})[0],
              ElementsAre(DoubleNear(6, 1e-12), DoubleNear(5, 1e-12)));
}

TEST(Attention, OfLargeScoresIsFinite) {
  const Given x = {{1, 3, 2, 1}, {1000, 1000, 1, 1000, -1000, 2}};
  EXPECT_THAT(outputs_of(kAttention, {x}, AttentionAttributes{1})[0], ElementsAre(1, 1));
}

TEST(Attention, RefusesHeadsThatDoNotDivideTheFeatures) {
  const Given x = {{1, 12, 2, 1}, std::vector<double>(24)};
  for (const std::int64_t heads : {0, -1, 3, 5}) {
    EXPECT_THAT([&] { outputs_of(kAttention, {x}, AttentionAttributes{heads}); },
                testing::ThrowsMessage<ShapeError>(HasSubstr(
                    std::to_string(heads) + " heads must divide a third of the 12 features")));
  }
}

TEST(Attention, CountsItsProducts) {
  Graph graph;
  const ValueId x = add_value(graph, {"x", {2, 24, 5, 1}, ValueKind::kInput});
  const ValueId dy = add_value(graph, {"dy", {2, 8, 5, 1}, ValueKind::kInput});
  add_node(graph, kAttention, "y", {x}, AttentionAttributes{2});
  EXPECT_EQ(count(graph).flops, 2 * 2 * (2 * 5 * 5 * 8));
  add_node(graph, kAttentionBackward, "dx", {x, dy}, AttentionAttributes{2});
  EXPECT_EQ(count(graph).flops, 2 * (2 + 5) * (2 * 5 * 5 * 8));
}

// The shapes and initial values of PyTorch's MultiheadAttention.
TEST(SelfAttention, HasPytorchsParameters) {
  NetOptions options = square_images(4);
  options.batch = 2;
  NetBuilder net(options);
  ValueId x = net.conv("conv", net.image(), {.filters = 6});
  x = self_attention(net, "attention", x, 3);
  const Graph graph =
      std::move(net).finish(net.linear("fc", net.global_average_pool("pool", x), 10));
  const auto parameter = [&](const char* name) { return graph.value(graph.find(name)); };
  EXPECT_THAT(parameter("attention.in_proj_weight").shape, ElementsAre(18, 6));
  EXPECT_EQ(parameter("attention.in_proj_weight").init, Init::kXavierUniform);
  EXPECT_THAT(parameter("attention.in_proj_bias").shape, ElementsAre(18));
  EXPECT_EQ(parameter("attention.in_proj_bias").init, Init::kZeros);
  EXPECT_EQ(parameter("attention.out_proj.weight").init, Init::kUniformFanIn);
  EXPECT_EQ(parameter("attention.out_proj.bias").init, Init::kZeros);
  EXPECT_THAT(to_text(graph), HasSubstr("heads=3 -> (2,6,4,4)"));
  EXPECT_EQ(to_text(for_inference(graph)), to_text(graph));
}

TEST(Tokens, PutTheClassTokenBeforeThePatches) {
  const Given x = {{1, 2, 1, 2}, {1, 2, 3, 4}};
  const Given first = {{1, 1, 2}, {10, 20}};
  const Given position = {{1, 3, 2}, {100, 200, 300, 400, 500, 600}};
  EXPECT_THAT(outputs_of(kTokens, {x, first, position}, {})[0],
              ElementsAre(110, 220, 301, 402, 503, 604));
  const Given dy = {{1, 2, 3, 1}, {1, 2, 3, 4, 5, 6}};
  const auto gradients = outputs_of(kTokensBackward, {dy}, TokensAttributes{1, 2});
  EXPECT_THAT(gradients[0], ElementsAre(3, 4, 5, 6));
  EXPECT_THAT(gradients[1], ElementsAre(1, 2));
  EXPECT_THAT(gradients[2], ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(outputs_of(kSelectToken, {dy}, {})[0], ElementsAre(1, 2));
}

TEST(Tokens, RefuseAnEmbeddingOfOtherPlaces) {
  const Given x = {{1, 2, 2, 2}, std::vector<double>(8)};
  const Given first = {{1, 1, 2}, {0, 0}};
  const Given position = {{1, 4, 2}, std::vector<double>(8)};
  EXPECT_THAT(
      [&] {
        outputs_of(kTokens, {x, first, position}, {});
      },
      testing::ThrowsMessage<ShapeError>(HasSubstr("wanted (1, 5, 2)")));
}

}  // namespace winnow::train::attention_test
