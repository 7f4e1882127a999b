#include "app/experiment/tune_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "common/rng.h"

namespace winnow::app::tune_table_test {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr TuneJudge kJudge{.margin = 0.005, .held_out_images = 10'000};

TuneArm grid_arm() {
  TuneArm arm{.optimizer = "sgd",
              .batch = 512,
              .axes = {{.flag = "lr", .values = {0.1, 0.2, 0.4}},
                       {.flag = "weight-decay", .values = {1e-4, 1e-3}}},
              .settings = {}};
  arm.settings = grid_of(arm.axes);
  return arm;
}

std::vector<TrialScore> scores(const std::vector<double>& top1) {
  std::vector<TrialScore> all;
  for (const double value : top1) all.push_back({.failed = value < 0, .top1 = value});
  return all;
}

// An arm whose trials were all trained to the end, with one final run per seed. A negative number
// means diverged.
ArmRuns runs_of(const std::vector<double>& trials, const std::vector<double>& finals) {
  const auto run = [](double top1) {
    return TunedRun{.score = {.failed = top1 < 0, .top1 = top1}, .steps = 100, .seconds = 2};
  };
  ArmRuns runs;
  runs.halving = halving_so_far({{trials.size(), 10}}, [&](std::size_t, std::size_t trial) {
    return std::optional(run(trials[trial]).score);
  });
  runs.rungs.emplace_back();
  for (const double top1 : trials) runs.rungs[0].emplace_back(run(top1));
  for (const double top1 : finals) runs.finals.emplace_back(run(top1));
  return runs;
}

TEST(TuneTable, SaysThatTheBestLiesAtAnEnd) {
  const TuneArm arm = grid_arm();
  // Rates: higher is better. Decays: no difference.
  const auto findings = findings_of(arm, scores({0.5, 0.5, 0.6, 0.601, 0.70, 0.702}), 5);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_TRUE(findings[0].is_highest);
  EXPECT_FALSE(findings[0].is_lowest);
  EXPECT_NEAR(*findings[0].at_stake, 0.202, 1e-9);
  EXPECT_FALSE(findings[0].matters_little(0.005));
  EXPECT_TRUE(findings[1].is_highest);
  EXPECT_NEAR(*findings[1].at_stake, 0.002, 1e-9);
  EXPECT_TRUE(findings[1].matters_little(0.005));
  const std::vector<std::string> advice = advice_of(arm, {.best = 5, .findings = findings}, kJudge);
  EXPECT_THAT(advice,
              ElementsAre(AllOf(HasSubstr("sgd, batch 512"), HasSubstr("--lr, 0.4"),
                                HasSubstr("highest"), HasSubstr("up to 0.8")),
                          AllOf(HasSubstr("--weight-decay mattered little"), HasSubstr("0.20"))));
}

TEST(TuneTable, WhatDivergedBeyondIsAnEnd) {
  const TuneArm arm = grid_arm();
  // 0.4 diverges; 0.2 is the best, and rates on both sides of it were tried.
  const auto findings = findings_of(arm, scores({0.5, 0.5, 0.6, 0.65, -1, -1}), 3);
  EXPECT_FALSE(findings[0].is_highest || findings[0].is_lowest);
  EXPECT_NEAR(*findings[0].at_stake, 0.65, 1e-9);  // a diverged run counts as 0 % right
}

TEST(TuneTable, NothingLiesBelowNothing) {
  TuneArm arm{.optimizer = "sgd",
              .batch = 1,
              .axes = {{.flag = "warmup-epochs", .values = {0, 1, 2}, .scale = AxisScale::kEven}},
              .settings = {{0}, {1}, {2}}};
  EXPECT_FALSE(findings_of(arm, scores({0.9, 0.5, 0.4}), 0)[0].is_lowest);
  const auto highest = findings_of(arm, scores({0.4, 0.5, 0.9}), 2);
  EXPECT_TRUE(highest[0].is_highest);
  EXPECT_THAT(advice_of(arm, {.best = 2, .findings = highest}, kJudge),
              ElementsAre(HasSubstr("up to 3")));
}

TEST(TuneTable, MomentumIsWidenedTowardsOne) {
  const auto advice = [](std::vector<double> values, double least, double most, bool highest) {
    const double best = highest ? 0.99 : 0.9;
    AxisFinding finding{.axis = {.flag = "momentum",
                                 .values = std::move(values),
                                 .least = least,
                                 .most = most,
                                 .scale = AxisScale::kToOne},
                        .best = best,
                        .is_lowest = !highest,
                        .is_highest = highest};
    const TuneArm arm{.optimizer = "sgd", .batch = 1, .axes = {finding.axis}, .settings = {}};
    return advice_of(arm, {.best = 0, .findings = {finding}}, kJudge);
  };
  EXPECT_THAT(advice({0.9, 0.99}, 0, 0, true), ElementsAre(HasSubstr("up to 0.999")));
  EXPECT_THAT(advice({0.9, 0.95, 0.99}, 0, 0, false), ElementsAre(HasSubstr("down to 0.8")));
  EXPECT_THAT(advice({}, 0.9, 0.99, true), ElementsAre(HasSubstr("up to 0.997")));
  EXPECT_THAT(advice({}, 0.9, 0.99, false), ElementsAre(HasSubstr("down to 0.7")));
}

TEST(TuneTable, DrawsAreLookedAtInThirds) {
  TuneArm arm{.optimizer = "lars",
              .batch = 512,
              .axes = {{.flag = "lr", .least = 1, .most = 6}},
              .settings = {{5}, {1}, {3}, {2}, {6}, {4}}};
  // By rate: 0.1 0.2 | 0.3 0.9 | 0.5 0.6.
  const auto findings = findings_of(arm, scores({0.5, 0.1, 0.3, 0.2, 0.6, 0.9}), 5);
  EXPECT_NEAR(*findings[0].at_stake, 0.9 - 0.2, 1e-9);
  EXPECT_FALSE(findings[0].is_highest || findings[0].is_lowest);
  arm.settings.pop_back();
  EXPECT_FALSE(findings_of(arm, scores({0.5, 0.1, 0.3, 0.2, 0.6}), 4)[0].at_stake);
}

TEST(TuneTable, AnEndOfWhatWasDrawnIsNotThatOfTheRange) {
  TuneArm arm{.optimizer = "sgd",
              .batch = 1,
              .axes = {{.flag = "lr", .least = 0.01, .most = 100}},
              .settings = {{0.1}, {50}, {10}}};
  const auto advice = [&](const std::vector<double>& top1, std::size_t best) {
    const auto findings = findings_of(arm, scores(top1), best);
    return advice_of(arm, {.best = best, .findings = findings}, kJudge);
  };
  EXPECT_THAT(advice({0.9, 0.1, 0.1}, 0), ElementsAre(HasSubstr("more --trials")));
  EXPECT_THAT(advice({0.1, 0.9, 0.1}, 1), ElementsAre(HasSubstr("up to 150")));
  EXPECT_THAT(advice({0.1, 0.1, 0.9}, 2), IsEmpty());
}

TEST(TuneTable, AMeanIsAShare) {
  const auto rows =
      rows_of({grid_arm()}, {runs_of({0.5, 0.6, 0.5, 0.5, 0.5, 0.5}, {0.9, 0.99})}, kJudge);
  EXPECT_EQ(rows[0].interval->most, 1);
  EXPECT_GT(rows[0].interval->least, 0);
}

TEST(TuneTable, RowsHaveTheFinalsAndAreComparedBySeed) {
  const TuneArm sgd = grid_arm();
  TuneArm lars = sgd;
  lars.optimizer = "lars";
  const std::vector<double> trials{0.5, 0.6, -1, 0.55, 0.3, 0.2};
  const auto rows =
      rows_of({sgd, lars},
              {runs_of(trials, {0.60, 0.61, 0.62}), runs_of(trials, {0.65, 0.662, 0.67})}, kJudge);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].best, 1U);
  EXPECT_EQ(rows[0].diverged, 1U);
  EXPECT_NEAR(*rows[0].mean, 0.61, 1e-12);
  EXPECT_NEAR(*rows[0].deviation, 0.01, 1e-12);
  // T with 2 degrees of freedom: 4.303 sd / sqrt(3)
  EXPECT_LT(rows[0].interval->least, 0.61 - 0.0248);
  EXPECT_GT(rows[0].interval->least, 0.61 - 0.0250);
  EXPECT_EQ(rows[0].steps, 100U);
  EXPECT_EQ(rows[0].seconds, 2);
  EXPECT_FALSE(rows[0].versus_first);
  EXPECT_NEAR(rows[1].versus_first->mean, 0.0506667, 1e-6);
  EXPECT_EQ(versus_first_in_words(rows[1]), "better");
  EXPECT_EQ(versus_first_in_words(rows[0]), "");
}

// Three optimisers at three batch sizes, with four final runs each.
std::vector<TuneRow> simulated(CounterRng& rng, double third_is_better) {
  std::vector<TuneArm> arms;
  std::vector<ArmRuns> runs;
  for (const std::uint64_t batch : {512, 2048, 8192}) {
    for (int optimizer = 0; optimizer < 3; ++optimizer) {
      arms.push_back(grid_arm());
      arms.back().batch = batch;
      std::vector<double> finals;
      for (int seed = 0; seed < 4; ++seed) {
        const double normal = std::sqrt(-2 * std::log(1 - rng.uniform())) *
                              std::cos(2 * std::numbers::pi * rng.uniform());
        finals.push_back(0.8 + (optimizer == 2 ? third_is_better : 0) + 0.004 * normal);
      }
      runs.push_back(runs_of({0.5, 0.6, 0.5, 0.5, 0.5, 0.5}, finals));
    }
  }
  return rows_of(arms, runs, kJudge);
}

TEST(TuneTable, KeepsItsWordInSimulations) {
  CounterRng rng(1, 0, 0, RandomUse::kTest);
  int alarms = 0;
  int covered = 0;
  constexpr int kTables = 1000;
  for (int table = 0; table < kTables; ++table) {
    const std::vector<TuneRow> rows = simulated(rng, 0);
    const auto differs = [](const TuneRow& row) {
      return versus_first_in_words(row) == "better" || versus_first_in_words(row) == "worse";
    };
    alarms += std::ranges::any_of(rows, differs) ? 1 : 0;
    covered += rows[0].interval->has(0.8) ? 1 : 0;
  }
  EXPECT_LT(alarms, 0.07 * kTables) << "5 % for all pairs together";
  EXPECT_NEAR(covered, 0.95 * kTables, 0.025 * kTables);
  int seen = 0;
  for (int table = 0; table < 100; ++table) {
    seen += versus_first_in_words(simulated(rng, 0.05)[2]) == "better" ? 1 : 0;
  }
  EXPECT_GT(seen, 90);
}

TEST(TuneTable, ASettingThatDivergesNowAndThenIsNotJudgedByTheOtherRuns) {
  const std::vector<double> trials{0.5, 0.6, 0.5, 0.5, 0.5, 0.5};
  for (const bool first : {false, true}) {
    const ArmRuns whole = runs_of(trials, {0.7, 0.7, 0.7, 0.7});
    const ArmRuns some = runs_of(trials, {0.9, 0.9, -1, 0.9});
    const auto rows =
        rows_of({grid_arm(), grid_arm()}, {first ? some : whole, first ? whole : some}, kJudge);
    EXPECT_NEAR(rows[1].versus_first->mean, first ? -0.2 : 0.2, 1e-9);
    EXPECT_EQ(rows[1].versus_first->pairs, 3U);
    EXPECT_EQ(versus_first_in_words(rows[1]), "");
    EXPECT_THAT(advice_of(grid_arm(), rows[first ? 0 : 1], kJudge),
                ::testing::Contains(HasSubstr("1 of 4 final runs")));
  }
}

TEST(TuneTable, AnArmThatDiverged) {
  const TuneArm arm = grid_arm();
  const auto rows = rows_of(
      {arm, arm},
      {runs_of({-1, -1, -1, -1, -1, -1}, {}), runs_of({0.5, 0.6, 0.5, 0.5, 0.5, 0.5}, {0.5, -1})},
      kJudge);
  EXPECT_FALSE(rows[0].best);
  EXPECT_EQ(rows[0].diverged, 6U);
  EXPECT_FALSE(rows[0].mean);
  EXPECT_THAT(advice_of(arm, rows[0], kJudge), ElementsAre(HasSubstr("all 6 trials diverged")));
  EXPECT_EQ(rows[1].finals_diverged, 1U);
  EXPECT_EQ(rows[1].mean, 0.5);
  EXPECT_FALSE(rows[1].interval);
  EXPECT_FALSE(rows[1].versus_first);
}

TEST(TuneTable, SettingsAreWordsOfACommand) {
  EXPECT_EQ(in_words(grid_arm(), {0.4, 1e-3}), "--lr 0.4 --weight-decay 0.001");
}

}  // namespace winnow::app::tune_table_test
