// Options common to all schedules: first and last rates, cooldown, rates by epoch, scaling. The
// numbers are worked out by hand or by PyTorch's documented formulas.

#include "train/optim/learning_rate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace winnow::train::learning_rate_test {

LearningRate rate_of(std::string_view schedule, OptionValues options) {
  return {.base = 0.8,
          .warmup_steps = 4,
          .total_steps = 24,
          .steps_per_epoch = 4,
          .schedule = find_lr_schedule(schedule),
          .options = std::move(options)};
}

TEST(LearningRate, WarmUpBeginsWhereItIsTold) {
  const LearningRate rate = rate_of("constant", {{"lr_warmup", {0.2}}});
  // torch.optim.lr_scheduler.LinearLR(start_factor=0.25, total_iters=4)
  const double want[] = {0.2, 0.35, 0.5, 0.65, 0.8, 0.8};
  for (int step = 0; step < 6; ++step) EXPECT_DOUBLE_EQ(rate_at(rate, step), want[step]) << step;
}

TEST(LearningRate, WarmsDownAfterTheSchedule) {
  const LearningRate flat = rate_of("constant", {{"cooldown_epochs", {2}}, {"lr_end", {0.1}}});
  EXPECT_DOUBLE_EQ(rate_at(flat, 15), 0.8);
  EXPECT_DOUBLE_EQ(rate_at(flat, 16), 0.8);
  EXPECT_DOUBLE_EQ(rate_at(flat, 20), 0.45);
  EXPECT_DOUBLE_EQ(rate_at(flat, 24), 0.1);
  // A schedule that has its own end reaches it before the cooldown.
  const LearningRate cosine = rate_of("cosine", {{"cooldown_epochs", {2}}, {"lr_end", {0.1}}});
  EXPECT_DOUBLE_EQ(rate_at(cosine, 10), 0.45);  // half of the 12 steps between warm-up and cooldown
  EXPECT_DOUBLE_EQ(rate_at(cosine, 16), 0.1);
  EXPECT_DOUBLE_EQ(rate_at(cosine, 20), 0.1);
  const LearningRate steps = rate_of("multistep", {{"milestones", {3}}, {"cooldown_epochs", {2}}});
  EXPECT_DOUBLE_EQ(rate_at(steps, 15), 0.08);
  EXPECT_DOUBLE_EQ(rate_at(steps, 18), 0.06);
}

TEST(LearningRate, StraightLineIsPolyOfPowerOne) {
  const LearningRate line = rate_of("poly", {{"power", {1}}, {"lr_end", {0.2}}});
  EXPECT_DOUBLE_EQ(rate_at(line, 4), 0.8);
  EXPECT_DOUBLE_EQ(rate_at(line, 9), 0.65);
  EXPECT_DOUBLE_EQ(rate_at(line, 24), 0.2);
}

TEST(LearningRate, ChangesByEpochsWhereAskedTo) {
  const LearningRate rate = rate_of("cosine", {{"lr_per_epoch", {1}}});
  // The first of one epoch of warm-up
  for (int step = 0; step < 4; ++step) EXPECT_DOUBLE_EQ(rate_at(rate, step), 0.8);
  // CosineAnnealingLR(T_max=5), stepped at the end of each epoch, after one epoch of warm-up.
  for (int step = 4; step < 24; ++step) {
    const int epoch = step / 4 - 1;
    EXPECT_NEAR(rate_at(rate, step), 0.4 * (1 + std::cos(std::numbers::pi * epoch / 5)), 1e-12);
  }
  LearningRate ramp = rate_of("constant", {{"lr_per_epoch", {1}}});
  ramp.warmup_steps = 16;
  EXPECT_DOUBLE_EQ(rate_at(ramp, 0), 0.2);  // equal steps over four epochs
  EXPECT_DOUBLE_EQ(rate_at(ramp, 3), 0.2);
  EXPECT_DOUBLE_EQ(rate_at(ramp, 4), 0.4);
  EXPECT_DOUBLE_EQ(rate_at(ramp, 15), 0.8);
}

TEST(LearningRate, EpochsMayHaveABrokenNumberOfSteps) {
  LearningRate rate = rate_of("poly", {{"lr_per_epoch", {1}}, {"power", {1}}});
  rate.warmup_steps = 0;
  rate.steps_per_epoch = 3.3;  // epochs begin at 0, 3, 7, 10, 13, 17 (16.5 rounded up), 20, 23
  const auto line = [](int begin) { return 0.8 * (1 - begin / 24.0); };
  for (const auto& [step, begin] :
       {std::pair{0, 0}, {2, 0}, {3, 3}, {6, 3}, {7, 7}, {9, 7}, {10, 10}, {16, 13}, {17, 17}}) {
    EXPECT_NEAR(rate_at(rate, step), line(begin), 1e-12) << step;
  }
}

TEST(LearningRate, OnecycleHasItsOwnWarmUp) {
  const LearningRate rate = rate_of("onecycle", {});
  EXPECT_DOUBLE_EQ(rate_at(rate, 0), 0.8 / 25);
  EXPECT_NEAR(rate_at(rate, 23), 0.8 / 25 / 1e4, 1e-12);
  double most = 0;
  for (int step = 0; step < 24; ++step) most = std::max(most, rate_at(rate, step));
  EXPECT_NEAR(most, 0.8, 0.01);
  LearningRate one = rate_of("onecycle", {});  // no step to rise in
  one.total_steps = 1;
  EXPECT_TRUE(std::isfinite(rate_at(one, 0)));
}

TEST(LearningRate, IsScaledToTheBatch) {
  EXPECT_DOUBLE_EQ(scaled_rate(0.1, 0, 8192, false), 0.1);
  EXPECT_DOUBLE_EQ(scaled_rate(0.1, 256, 8192, false), 3.2);
  EXPECT_DOUBLE_EQ(scaled_rate(0.1, 256, 4096, true), 0.4);
  EXPECT_DOUBLE_EQ(scaled_rate(0.1, 256, 64, false), 0.025);
}

}  // namespace winnow::train::learning_rate_test
