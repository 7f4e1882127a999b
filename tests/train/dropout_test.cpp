#include "train/ops/dropout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "tests/train/learner.h"
#include "tests/train/run_operation.h"
#include "train/nets/builder.h"
#include "train/nets/dropout.h"

namespace winnow::train::dropout_test {

using testing::HasSubstr;
using testing::Not;

Graph net_with_dropout(std::int64_t batch) {
  NetBuilder net({.batch = batch,
                  .channels = 1,
                  .height_px = 8,
                  .width_px = 8,
                  .classes = 3,
                  .mean = {0.5F},
                  .stddev = {0.25F}});
  ValueId x = net.relu("relu", net.conv("conv", net.image(), {.filters = 6, .kernel = 3}));
  x = net.add("add", x, drop_path(net, "path", net.relu("relu2", x), 0.3));
  x = dropout(net, "drop", x, 0.5);
  x = net.linear("fc", x, 3);
  return std::move(net).finish(x);
}

// The parameters after two steps on six samples.
std::vector<float> learned(std::int64_t micro_batch, const std::vector<int>& lanes,
                           std::uint64_t seed) {
  const Graph graph = prune(differentiate(net_with_dropout(micro_batch)));
  Learner learner(graph, cut_into(lanes, 4096, /*reproducible=*/true));
  learner.executor->set_seed(seed);
  pipeline::Batch batch = random_batch(graph, 6);
  for (int step = 0; step < 2; ++step) learner.step(batch);
  learner.weights->store();
  std::vector<float> all;
  for (const Model::Tensor& tensor : learner.model.tensors) {
    all.insert(all.end(), tensor.data.begin(), tensor.data.end());
  }
  return all;
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double greatest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    greatest = std::max(greatest, std::abs(static_cast<double>(a[i] - b[i])));
  }
  return greatest;
}

TEST(Dropout, LanesChangeNoBitAndMicroBatchesNoMask) {
  const auto two_a_part = learned(2, {3}, 1);
  EXPECT_EQ(learned(2, {2, 1}, 1), two_a_part);
  EXPECT_EQ(learned(2, {1, 1, 1}, 1), two_a_part);
  // Other micro-batches change only the order of sums: the same elements are dropped.
  EXPECT_LE(distance(learned(6, {1}, 1), two_a_part), 1e-6);
  EXPECT_LE(distance(learned(1, {6}, 1), two_a_part), 1e-6);
}

TEST(Dropout, FollowsTheSeed) { EXPECT_GE(distance(learned(2, {3}, 1), learned(2, {3}, 2)), 1e-4); }

TEST(Dropout, FollowsTheStepAndTheSample) {
  const Graph graph = prune(differentiate(net_with_dropout(6)));
  Learner learner(graph, cut_into({1}, 4096));
  pipeline::Batch batch = random_batch(graph, 6);
  const auto loss = [&] { return learner.step(batch, 0).score.loss; };
  const double first = loss();
  EXPECT_NE(loss(), first);
  learner.steps = 0;
  EXPECT_EQ(loss(), first);
  batch.ids[3] += 100;
  learner.steps = 0;
  EXPECT_NE(loss(), first);
}

TEST(Dropout, KeepsTheShareAndTheMean) {
  constexpr std::size_t kElements = 40'000;
  std::vector<double> keys(kKeyBytes, 17);
  const Given x{{1, kElements}, std::vector<double>(kElements, 1.0)};
  const Given of_sample{{1, kKeyBytes}, keys, Storage::kU8};
  for (const double rate : {0.1, 0.5, 0.8}) {
    const auto y = outputs_of(kDropout, {x, of_sample}, DropoutAttributes{.rate = rate})[0];
    double kept = 0;
    for (const double v : y) {
      ASSERT_TRUE(v == 0 || v == 1 / (1 - rate));
      kept += v > 0 ? 1.0 / kElements : 0;
    }
    // 5 standard deviations
    EXPECT_NEAR(kept, 1 - rate, 5 * std::sqrt(rate * (1 - rate) / kElements));
  }
}

TEST(Dropout, OperationsOfANetDropDifferentElements) {
  const Given x{{1, 100}, std::vector<double>(100, 1.0)};
  const Given keys{{1, kKeyBytes}, std::vector<double>(kKeyBytes, 3), Storage::kU8};
  EXPECT_NE(outputs_of(kDropout, {x, keys}, DropoutAttributes{.operation = 1}),
            outputs_of(kDropout, {x, keys}, DropoutAttributes{.operation = 2}));
}

TEST(Dropout, IsNotInEvaluation) {
  const Graph graph = net_with_dropout(2);
  EXPECT_THAT(to_text(graph), HasSubstr("dropout(%"));
  EXPECT_THAT(to_text(graph), HasSubstr("'keys' u8 -> (2,8)"));
  const std::string text = to_text(for_inference(graph));
  EXPECT_THAT(text, Not(HasSubstr("dropout")));
  EXPECT_THAT(text, Not(HasSubstr("keys")));
  EXPECT_THAT(text, HasSubstr("logits"));
}

TEST(Dropout, RefusesRatesThatKeepNothing) {
  const Given x{{1, 4}, {1, 1, 1, 1}};
  const Given keys{{1, kKeyBytes}, std::vector<double>(kKeyBytes), Storage::kU8};
  for (const double rate : {1.0, -0.1}) {
    EXPECT_THAT(
        [&] {
          outputs_of(kDropout, {x, keys}, DropoutAttributes{.rate = rate});
        },
        testing::ThrowsMessage<ShapeError>(HasSubstr("must be in [0, 1)")));
  }
}

}  // namespace winnow::train::dropout_test
