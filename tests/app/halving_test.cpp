#include "app/experiment/halving.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

namespace winnow::app::halving_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Halving, RungsGrowByThree) {
  const auto rungs = halving_rungs(9, 9);
  ASSERT_EQ(rungs.size(), 3U);
  EXPECT_EQ(rungs[0], (Rung{9, 1}));
  EXPECT_EQ(rungs[1], (Rung{3, 3}));
  EXPECT_EQ(rungs[2], (Rung{1, 9}));
}

TEST(Halving, TheShortestRungIsAnEpochOrMore) {
  EXPECT_THAT(halving_rungs(81, 10), ElementsAre(testing::_, Rung{27, 10.0 / 3}, Rung{9, 10}));
  EXPECT_THAT(halving_rungs(81, 2), ElementsAre(Rung{81, 2}));
  EXPECT_THAT(halving_rungs(2, 100), ElementsAre(Rung{2, 100}));
  EXPECT_THAT(halving_rungs(1, 100), ElementsAre(Rung{1, 100}));
}

// Each rung trains on the same number of samples, except for what rounding leaves out.
TEST(Halving, NoRungCostsMoreThanThatBefore) {
  for (std::size_t trials = 1; trials < 100; ++trials) {
    const auto rungs = halving_rungs(trials, 30);
    EXPECT_EQ(rungs.front().trials, trials);
    EXPECT_EQ(rungs.back().epochs, 30);
    for (std::size_t i = 1; i < rungs.size(); ++i) {
      EXPECT_EQ(rungs[i].trials, rungs[i - 1].trials / 3);
      EXPECT_NEAR(rungs[i].epochs, 3 * rungs[i - 1].epochs, 1e-9);
      EXPECT_GE(rungs[i - 1].epochs, 1);
    }
  }
}

TEST(Halving, RanksByAccuracyThenLossThenPlace) {
  EXPECT_THAT(ranked({{.top1 = 0.5, .loss = 1},
                      {.top1 = 0.7, .loss = 2},
                      {.failed = true, .top1 = 0.9, .loss = 0},
                      {.top1 = 0.7, .loss = 1},
                      {.top1 = 0.7},
                      {.top1 = 0.7, .loss = 1}}),
              ElementsAre(3, 5, 1, 4, 0));
}

// Scores of runs by {rung, trial}. Trials without a score have not been run.
using Scores = std::map<std::pair<std::size_t, std::size_t>, TrialScore>;

Halving run(const std::vector<Rung>& rungs, const Scores& scores) {
  return halving_so_far(rungs, [&](std::size_t rung, std::size_t trial) {
    const auto found = scores.find({rung, trial});
    return found == scores.end() ? std::nullopt : std::optional(found->second);
  });
}

TEST(Halving, TheBestThirdGoesOn) {
  const std::vector<Rung> rungs = halving_rungs(9, 9);
  Scores scores;
  Halving so_far = run(rungs, scores);
  ASSERT_EQ(so_far.trials.size(), 1U);
  EXPECT_THAT(so_far.trials[0], ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_FALSE(so_far.ended);
  for (std::size_t trial = 0; trial < 9; ++trial) {
    scores[{0, trial}] = {.top1 = 0.1 * static_cast<double>(trial)};
    EXPECT_EQ(run(rungs, scores).trials.size(), trial < 8 ? 1U : 2U);
  }
  so_far = run(rungs, scores);
  EXPECT_THAT(so_far.trials[1], ElementsAre(6, 7, 8));
  // The order is reversed.
  for (std::size_t trial = 6; trial < 9; ++trial) {
    scores[{1, trial}] = {.top1 = 0.9 - 0.01 * static_cast<double>(trial)};
  }
  so_far = run(rungs, scores);
  EXPECT_THAT(so_far.trials[2], ElementsAre(6));
  EXPECT_FALSE(so_far.ended);
  scores[{2, 6}] = {.top1 = 0.2};  // it was trained longest, whatever its score
  so_far = run(rungs, scores);
  EXPECT_TRUE(so_far.ended);
  EXPECT_EQ(so_far.best, 6U);
}

TEST(Halving, WhatDivergedNeverGoesOn) {
  const std::vector<Rung> rungs = halving_rungs(9, 9);
  Scores scores;
  for (std::size_t trial = 0; trial < 9; ++trial) {
    scores[{0, trial}] = {.failed = trial != 2 && trial != 4, .top1 = trial == 2 ? 0.5 : 0.6};
  }
  Halving so_far = run(rungs, scores);
  EXPECT_THAT(so_far.trials[1], ElementsAre(2, 4));
  scores[{1, 2}] = {.top1 = 0.7};
  scores[{1, 4}] = {.top1 = 0.8};
  scores[{2, 4}] = {.failed = true};
  so_far = run(rungs, scores);
  EXPECT_TRUE(so_far.ended);
  EXPECT_EQ(so_far.best, 2U);  // the best trial that never diverged
  scores[{1, 2}] = {.failed = true};
  scores[{1, 4}] = {.failed = true};
  so_far = run(rungs, scores);
  EXPECT_TRUE(so_far.ended);
  EXPECT_EQ(so_far.trials.size(), 2U);
  EXPECT_FALSE(so_far.best);
}

TEST(Halving, WithoutRungsTheBestOfAll) {
  const std::vector<Rung> rungs{{3, 10}};
  const Halving so_far =
      run(rungs, {{{0, 0}, {.top1 = 0.5}}, {{0, 1}, {.top1 = 0.6}}, {{0, 2}, {.failed = true}}});
  EXPECT_TRUE(so_far.ended);
  EXPECT_EQ(so_far.best, 1U);
}

}  // namespace winnow::app::halving_test
