// Which evaluation of a run is the best, and when a run ends for want of a better one.

#include "train/run/record/best.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "common/error.h"

namespace winnow::train::best_test {

using testing::ElementsAre;
using testing::Pair;

TEST(Best, IsTheFirstOfTheLargestOrOfTheSmallestLoss) {
  std::optional<BestEvaluation> best;
  EXPECT_TRUE(enter_evaluation(best, "val.top1", {{"val.top1", 0.5}}, 10));
  EXPECT_FALSE(enter_evaluation(best, "val.top1", {{"val.top1", 0.5}}, 20));
  EXPECT_FALSE(enter_evaluation(best, "val.top1", {{"val.top1", 0.4}}, 30));
  EXPECT_EQ(best->step, 10);
  EXPECT_EQ(best->since, 2);
  EXPECT_TRUE(enter_evaluation(best, "val.top1", {{"val.top1", 0.75}}, 40));
  EXPECT_EQ(best->since, 0);
  EXPECT_TRUE(enter_evaluation(best, "val.loss", {{"val.loss", 2}}, 50)) << "another metric";
  EXPECT_TRUE(enter_evaluation(best, "val.loss", {{"val.loss", 1}}, 60));
  EXPECT_FALSE(enter_evaluation(best, "val.loss", {{"val.loss", 3}}, 70));
  EXPECT_EQ(best->value, 1);
}

TEST(Best, WhatIsNoNumberIsNeverTheBest) {
  std::optional<BestEvaluation> best;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(enter_evaluation(best, "val.loss", {{"val.loss", nan}}, 10));
  EXPECT_FALSE(enter_evaluation(best, "val.loss", {{"val.top1", 1}}, 20));
  EXPECT_FALSE(best);
  EXPECT_TRUE(enter_evaluation(best, "val.loss", {{"val.loss", 4}}, 30));
  EXPECT_FALSE(enter_evaluation(best, "val.loss", {{"val.loss", -1 / 0.0}}, 40));
  EXPECT_EQ(best->since, 1);
}

TEST(Best, ARunIsOverAfterSoManyEvaluations) {
  const BestEvaluation best{.metric = "val.top1", .value = 1, .step = 10, .since = 3};
  EXPECT_TRUE(is_over({.keep_best = "top1", .patience = 3}, best));
  EXPECT_FALSE(is_over({.keep_best = "top1", .patience = 4}, best));
  EXPECT_FALSE(is_over({.keep_best = "top1", .patience = 0}, best));
  EXPECT_FALSE(is_over({.keep_best = "loss", .patience = 3}, best)) << "it watches another metric";
  EXPECT_FALSE(is_over({.keep_best = "top1", .patience = 3}, std::nullopt));
}

TEST(Best, MetricsAreNamed) {
  EXPECT_EQ(watched_metric(""), "");
  EXPECT_EQ(watched_metric("loss"), "val.loss");
  EXPECT_EQ(watched_metric("top5:val_ema"), "val_ema.top5");
  for (const char* bad : {"Top1", "top1:", "top1:test", ":val", "top1:val:val", "val.top1"}) {
    EXPECT_THROW(watched_metric(bad), UsageError) << bad;
  }
}

TEST(Best, FiguresHaveTheNamesOfMetrics) {
  const Evaluation evaluation{.loss = 2, .top1 = 0.25, .top5 = 0.5, .top1_leak_free = 0.125};
  EXPECT_THAT(figures_of(evaluation, "val", 6),
              ElementsAre(Pair("val.loss", 2), Pair("val.top1", 0.25),
                          Pair("val.top1_leak_free", 0.125), Pair("val.top5", 0.5)));
  EXPECT_THAT(figures_of({.loss = 2, .top1 = 0.25}, "test_ema", 5),
              ElementsAre(Pair("test_ema.loss", 2), Pair("test_ema.top1", 0.25)));
}

}  // namespace winnow::train::best_test
