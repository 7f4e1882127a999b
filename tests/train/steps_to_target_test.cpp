#include "train/plan/steps_to_target.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "common/error.h"

namespace winnow::train::steps_to_target_test {

using Runs = std::vector<ReachedTarget>;

constexpr double kLeastSteps = 400;
constexpr double kLeastExamples = 300'000;

double steps(double batch) { return kLeastSteps + kLeastExamples / batch; }

TEST(StepsToTarget, MadeUpRunsGiveTheNumbersTheyWereMadeOf) {
  for (const std::vector<double>& batches :
       {std::vector<double>{128, 2048}, {128, 512, 2048}, {64, 100, 1000, 8192, 1e6}}) {
    Runs runs;
    for (const double batch : batches) runs.push_back({batch, steps(batch)});
    const StepsToTarget fit = fit_steps_to_target(runs);
    EXPECT_NEAR(fit.least_steps, kLeastSteps, 1e-6 * kLeastSteps);
    EXPECT_NEAR(fit.least_examples, kLeastExamples, 1e-6 * kLeastExamples);
    EXPECT_NEAR(critical_batch(fit), 750, 1e-3);
    EXPECT_NEAR(fit.at(1024), steps(1024), 1e-6 * steps(1024));
  }
}

TEST(StepsToTarget, NoisyRunsForetellABatchBetweenThem) {
  std::mt19937 random(17);
  std::normal_distribution<double> noise(0, 0.03);
  int inside = 0;
  for (int round = 0; round < 200; ++round) {
    Runs runs;
    for (const double batch : {128.0, 512.0, 2048.0}) {
      const double at = steps(batch) * (1 + noise(random));
      runs.push_back({batch, at, at * 0.9});
    }
    const double cost = fit_steps_to_target(runs).at(1024);
    EXPECT_NEAR(cost, steps(1024), 0.2 * steps(1024));
    const Interval range = steps_range_at(runs, 1024);
    EXPECT_LE(range.least, cost);
    EXPECT_GE(range.most, cost);
    inside += range.least <= steps(1024) && steps(1024) <= range.most ? 1 : 0;
  }
  EXPECT_GT(inside, 150);
}

TEST(StepsToTarget, NeitherNumberIsBelowZero) {
  // More examples per step and more steps: pure noise, the batch size has no effect.
  const StepsToTarget flat = fit_steps_to_target(Runs{{128, 100}, {512, 120}});
  EXPECT_EQ(flat.least_examples, 0);
  EXPECT_GT(flat.least_steps, 99);
  EXPECT_LT(flat.least_steps, 121);
  // Steps fall faster than the batch grows.
  const StepsToTarget steep = fit_steps_to_target(Runs{{128, 1000}, {512, 200}});
  EXPECT_EQ(steep.least_steps, 0);
  EXPECT_GT(steep.least_examples, 0);
  EXPECT_TRUE(std::isinf(critical_batch(steep)));
}

TEST(StepsToTarget, RangesGrowWithWhatEvaluationsLeaveOpen) {
  Runs runs{{128, steps(128), steps(128) * 0.98}, {2048, steps(2048), steps(2048) * 0.98}};
  const StepsToTarget fine = fit_steps_to_target(runs);
  for (ReachedTarget& run : runs) run.before = run.steps * 0.7;
  const StepsToTarget coarse = fit_steps_to_target(runs);
  EXPECT_LT(fine.steps_range.most - fine.steps_range.least,
            coarse.steps_range.most - coarse.steps_range.least);
  EXPECT_LE(coarse.steps_range.least, coarse.least_steps);
  EXPECT_GE(coarse.steps_range.most, coarse.least_steps);
}

TEST(StepsToTarget, OneBatchTellsNothing) {
  EXPECT_THROW(fit_steps_to_target(Runs{{128, 100}, {128, 110}}), UsageError);
  EXPECT_THROW(fit_steps_to_target(Runs{}), UsageError);
}

}  // namespace winnow::train::steps_to_target_test
