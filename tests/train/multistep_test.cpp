// Cases that optim_vectors_test.cpp does not cover: warm-up, epochs of a fractional number of
// steps, wrong use.

#include "train/optim/multistep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.h"
#include "train/optim/recipe_options.h"

namespace winnow::train::multistep_test {

using testing::StrEq;
using testing::ThrowsMessage;

LearningRate multistep(double steps_per_epoch, std::vector<double> milestones) {
  return {.base = 0.8,
          .warmup_steps = 4,
          .total_steps = 40,
          .steps_per_epoch = steps_per_epoch,
          .schedule = find_lr_schedule("multistep"),
          .options = {{"milestones", std::move(milestones)}, {"gamma", {0.5}}}};
}

TEST(Multistep, CountsEpochsFromTheFirstStepOfTheRun) {
  const LearningRate rate = multistep(4, {2, 3});
  EXPECT_DOUBLE_EQ(rate_at(rate, 0), 0.2);  // warm-up
  EXPECT_DOUBLE_EQ(rate_at(rate, 4), 0.8);
  EXPECT_DOUBLE_EQ(rate_at(rate, 7), 0.8);
  EXPECT_DOUBLE_EQ(rate_at(rate, 8), 0.4);
  EXPECT_DOUBLE_EQ(rate_at(rate, 11), 0.4);
  EXPECT_DOUBLE_EQ(rate_at(rate, 12), 0.2);
  EXPECT_DOUBLE_EQ(rate_at(rate, 39), 0.2);
}

TEST(Multistep, TakesTheStepNearestToAMilestone) {
  const LearningRate rate = multistep(3.3, {2, 2.5});  // at steps 6.6 and 8.25
  EXPECT_DOUBLE_EQ(rate_at(rate, 6), 0.8);
  EXPECT_DOUBLE_EQ(rate_at(rate, 7), 0.4);
  EXPECT_DOUBLE_EQ(rate_at(rate, 8), 0.2);
}

TEST(Multistep, NeedsMilestones) {
  EXPECT_THAT([] { check_recipe("sgd", "multistep", {}); },
              ThrowsMessage<UsageError>(StrEq("--sched multistep needs --milestones")));
  EXPECT_NO_THROW(check_recipe("sgd", "multistep", {{"milestones", {30, 60}}}));
  EXPECT_THROW(check_recipe("sgd", "multistep", {{"milestones", {30, -1}}}), UsageError);
  EXPECT_THROW(check_recipe("sgd", "multistep", {{"milestones", {30}}, {"gamma", {0}}}),
               UsageError);
  EXPECT_THAT(
      [] {
        check_recipe("sgd", "cosine", {{"milestones", {30}}});
      },
      ThrowsMessage<UsageError>(
          StrEq("--milestones is an option of --sched multistep; this run's is cosine")));
}

}  // namespace winnow::train::multistep_test
