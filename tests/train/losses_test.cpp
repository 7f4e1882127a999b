#include "train/nets/losses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "common/error.h"
#include "tests/train/golden_tensors.h"
#include "tests/train/net_options.h"
#include "tests/train/run_operation.h"
#include "train/nets/builder.h"
#include "train/ops/sigmoid_cross_entropy.h"

namespace winnow::train::losses_test {

using testing::DoubleNear;
using testing::HasSubstr;
using testing::Pointwise;

TEST(SigmoidCrossEntropy, IsPytorchs) {
  for (const JsonReader& row : test::vectors("train/losses", "cases")) {
    const double gamma = row.at("gamma").real();
    SCOPED_TRACE(gamma);
    const SigmoidLossAttributes attributes{{row.at("label_smoothing").real()},
                                           gamma,
                                           row.at("alpha").real(),
                                           row.at("mean").boolean()};
    const std::vector<Given> operands = {given(row.at("logits")), given(row.at("targets")),
                                         given(row.at("weights"))};
    const auto y = outputs_of(kSigmoidCrossEntropy, operands, attributes);
    const std::vector<double> per_sample = given(row.at("per_sample")).numbers;
    EXPECT_THAT(y[1], Pointwise(DoubleNear(1e-11), per_sample));
    double loss = 0;
    for (std::size_t n = 0; n < y[1].size(); ++n) {
      loss += operands[2].numbers[n] * per_sample[n];
    }
    EXPECT_NEAR(y[0][0], loss, 1e-11);
    const auto d = outputs_of(kSigmoidCrossEntropyBackward, operands, attributes);
    EXPECT_THAT(d[0], Pointwise(DoubleNear(1e-12), given(row.at("dlogits")).numbers));
  }
}

TEST(SigmoidCrossEntropy, RefusesFactorsOutOfRange) {
  const std::vector<Given> given = {{{1, 2}, {0, 0}}, {{1, 2}, {0, 1}}, {{1}, {1}}};
  const auto refusal = [&](const SigmoidLossAttributes& attributes, const std::string& words) {
    EXPECT_THAT([&] { outputs_of(kSigmoidCrossEntropy, given, attributes); },
                testing::ThrowsMessage<ShapeError>(HasSubstr(words)));
  };
  refusal({{}, -1}, "gamma -1 must be 0 or more");
  refusal({{}, 0, 1.5}, "alpha 1.5 must be 1 or less");
  refusal({{1.0}}, "label smoothing 1");
}

Graph net_with(const LossOptions& loss, std::int64_t batch = 1) {
  NetOptions options = square_images(8);
  options.batch = batch;
  options.loss = loss;
  NetBuilder net(options);
  const ValueId logits = net.linear("fc", net.image(), options.classes);
  return std::move(net).finish(logits);
}

TEST(Losses, AreNodesOfANet) {
  const auto text = [](const LossOptions& loss) { return to_text(net_with(loss)); };
  EXPECT_THAT(text({}), HasSubstr("softmax_cross_entropy(%6, %0, %1) -> "));
  EXPECT_THAT(text({.name = "bce", .label_smoothing = 0.1}),
              HasSubstr("sigmoid_cross_entropy(%6, %0, %1) label_smoothing=0.1 mean -> "));
  EXPECT_THAT(text({.name = "focal"}),
              HasSubstr("sigmoid_cross_entropy(%6, %0, %1) gamma=2 alpha=0.25 -> "));
  EXPECT_THAT(text({.name = "focal", .focal_gamma = 0, .focal_alpha = -1}),
              HasSubstr("sigmoid_cross_entropy(%6, %0, %1) -> "));
  EXPECT_THAT([] { find_loss("hinge"); },
              testing::ThrowsMessage<UsageError>(
                  "unknown loss 'hinge'; known: cross_entropy, bce, focal, barlow_twins"));
}

// The first layer of the projector is the net's own last layer. Its results are the logits.
TEST(Losses, WithoutLabelsAreOfProjections) {
  const Graph graph = net_with({.name = std::string(kTwinsLoss), .redundancy = 0.25}, 4);
  const std::string text = to_text(graph);
  EXPECT_THAT(text, HasSubstr("barlow_twins(%25, %0) redundancy=0.25 -> "));
  EXPECT_THAT(text, testing::Not(HasSubstr("targets")));
  const auto logits = std::ranges::find(graph.outputs, OutputKind::kLogits, &Output::kind);
  ASSERT_NE(logits, graph.outputs.end());
  const auto norm = std::ranges::find(graph.nodes, "projector.1", &Node::name);
  ASSERT_NE(norm, graph.nodes.end());
  EXPECT_EQ(norm->inputs.front(), logits->value);
  std::vector<std::string> names;
  for (const ValueId id : graph.of_kind(ValueKind::kParameter)) {
    names.push_back(graph.value(id).name);
  }
  EXPECT_THAT(names,
              testing::ElementsAre("fc.weight", "fc.bias", "projector.1.weight", "projector.1.bias",
                                   "projector.3.weight", "projector.4.weight", "projector.4.bias",
                                   "projector.6.weight"));
}

// The outputs of a net that knows nothing: all logits are 0.
TEST(Losses, OfGuessingAreThoseOfEqualLogits) {
  for (const LossRow& row : losses()) {
    SCOPED_TRACE(row.name);
    for (const double alpha : {-1.0, 0.25}) {
      const LossOptions options{.name = std::string(row.name), .focal_alpha = alpha};
      const LossNode loss = row.make(options);
      std::vector<Given> given = {{{1, 4}, {0, 0, 0, 0}}, {{1, 4}, {0, 1, 0, 0}}, {{1}, {1}}};
      if (!row.reads_labels()) {
        given = {{{4, 4}, std::vector<double>(16)}, {{4}, {0.25, 0.25, 0.25, 0.25}}};
      }
      const auto y = outputs_of(*loss.operation, given, loss.attributes);
      EXPECT_NEAR(y[0][0], row.guessing(options, 4), 1e-12);
    }
  }
}

}  // namespace winnow::train::losses_test
