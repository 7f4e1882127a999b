#include "app/experiment/sweep_verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <numbers>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/rng.h"

namespace winnow::app::sweep_verdict_test {

using ::testing::HasSubstr;

constexpr SweepJudge kJudge{.margin = 0.005, .held_out_images = 10'000};
using OutcomeOf = std::function<std::optional<Outcome>(const std::string&)>;

// All images, then points that remove a tenth, two tenths, ... of 1000, then a control for each.
std::vector<SweepArm> arms_of(std::size_t points, int seeds) {
  std::vector<SweepArm> arms{{.name = "all", .budget = "epochs", .kept = 1000}};
  for (std::size_t i = 1; i <= points; ++i) {
    arms.push_back({.name = "r" + std::to_string(10 * i),
                    .series = "phash first",
                    .budget = "epochs",
                    .kept = 1000 - 100 * i,
                    .removed = 100 * i,
                    .control = points + i});
  }
  for (std::size_t i = 1; i <= points; ++i) {
    arms.push_back({.name = "control-r" + std::to_string(10 * i),
                    .series = "phash first",
                    .budget = "epochs",
                    .kept = 1000 - 100 * i,
                    .removed = 100 * i});
  }
  for (SweepArm& arm : arms) {
    arm.epochs = 1;
    arm.epoch_images = arm.kept;
    for (int seed = 1; seed <= seeds; ++seed) {
      arm.jobs.push_back(arm.name + "/" + std::to_string(seed));
    }
  }
  return arms;
}

// Outcomes of each arm by name, with noise. Jobs with seeds above `most` are not done.
OutcomeOf outcomes(const std::map<std::string, double>& means, double noise, std::uint64_t draw,
                   int most = 100) {
  return [=](const std::string& job) -> std::optional<Outcome> {
    const std::size_t slash = job.find('/');
    const int seed = std::stoi(job.substr(slash + 1));
    if (seed > most) throw std::logic_error(job + " was asked for");
    CounterRng rng(draw, static_cast<std::uint32_t>(std::hash<std::string>()(job)), 0,
                   RandomUse::kTest);
    const double normal = std::sqrt(-2 * std::log(1 - rng.uniform())) *
                          std::cos(2 * std::numbers::pi * rng.uniform());
    const double top1 = means.at(job.substr(0, slash)) + noise * normal;
    return Outcome{false, "{\"top1\":" + std::to_string(top1) + "}"};
  };
}

std::map<std::string, double> falling(const std::vector<double>& of_points) {
  std::map<std::string, double> means{{"all", 0.9}};
  for (std::size_t i = 0; i < of_points.size(); ++i) {
    const std::string name = "r" + std::to_string(10 * (i + 1));
    means[name] = of_points[i];
    means["control-" + name] = of_points[i] - 0.02;
  }
  return means;
}

// Twelve points that lose exactly the margin: a single verdict of "no loss" is a false one.
TEST(SweepVerdict, IsCorrectedForSeveralPoints) {
  const std::vector<SweepArm> arms = arms_of(12, 5);
  const auto means = falling(std::vector<double>(12, 0.9 - kJudge.margin));
  int wrong = 0;
  int alone = 0;
  constexpr int kSweeps = 400;
  for (std::uint64_t draw = 0; draw < kSweeps; ++draw) {
    const auto results = results_of(arms, kJudge, outcomes(means, 0.002, draw));
    bool any_alone = false;
    for (std::size_t i = 1; i <= 12; ++i) any_alone |= results[i].passes_alone;
    wrong += recommend(arms, results, kJudge) ? 1 : 0;
    alone += any_alone ? 1 : 0;
  }
  EXPECT_LT(wrong, 0.075 * kSweeps);
  EXPECT_GT(alone, 0.2 * kSweeps) << "the correction is needed";
}

TEST(SweepVerdict, SaysWhichPointWouldPassAlone) {
  const std::vector<SweepArm> arms = arms_of(9, 3);
  std::vector<double> means(9, 0.8);
  means[0] = 0.9;
  for (std::uint64_t draw = 0; draw < 100; ++draw) {
    const auto results = results_of(arms, kJudge, outcomes(falling(means), 0.001, draw));
    if (!results[1].passes_alone || results[1].loss == Loss::kNone) continue;
    EXPECT_THAT(recommendation(arms, results, kJudge),
                HasSubstr("corrected for 9 points by Holm; r10 alone would pass"));
    EXPECT_GT(*results[1].p_no_loss, 0.05);
    return;
  }
  FAIL() << "no draw was of use";
}

TEST(SweepVerdict, StopsPointsThatAreHarderThanOneThatLoses) {
  const std::vector<SweepArm> arms = arms_of(4, 6);
  // The first point loses nothing. The second does, so the third and fourth cannot matter.
  const auto outcome_of = outcomes(falling({0.9, 0.85, 0.8, 0.7}), 0.001, 1, 3);
  const std::vector<SweepArm> left = without_lost(arms, kJudge, 3, outcome_of);
  const std::map<std::string, std::size_t> expected{
      {"all", 6},         {"r10", 6},         {"r20", 6},         {"r30", 3},        {"r40", 3},
      {"control-r10", 6}, {"control-r20", 6}, {"control-r30", 3}, {"control-r40", 3}};
  for (const SweepArm& arm : left) {
    EXPECT_EQ(arm.jobs.size(), expected.at(arm.name)) << arm.name;
    EXPECT_EQ(arm.stopped_after.has_value(), arm.jobs.size() == 3) << arm.name;
  }
  // With more seeds done, the points that were stopped stay at three.
  const auto later = outcomes(falling({0.9, 0.85, 0.8, 0.7}), 0.001, 1, 4);
  const std::vector<SweepArm> again = without_lost(left, kJudge, 4, later);
  for (std::size_t i = 0; i < left.size(); ++i) EXPECT_EQ(again[i].jobs, left[i].jobs);
  // A control that a running point shares keeps running.
  std::vector<SweepArm> shared = arms;
  shared[3].control = shared[2].control;
  const std::vector<SweepArm> kept = without_lost(shared, kJudge, 3, outcome_of);
  EXPECT_EQ(kept[3].jobs.size(), 3U);
  EXPECT_EQ(kept[*shared[2].control].jobs.size(), 6U);
  // Nothing follows for another series or budget.
  std::vector<SweepArm> others = arms;
  others[3].series = "ahash first";
  others[4].budget = "steps";
  for (const SweepArm& arm : without_lost(others, kJudge, 3, outcome_of)) {
    EXPECT_EQ(arm.jobs.size(), 6U) << arm.name;
  }
  SweepJudge small = kJudge;
  small.most_images = 650;
  for (const SweepArm& arm : without_lost(arms, small, 3, outcome_of)) {
    EXPECT_EQ(arm.jobs.size(), 6U) << "the most accurate of them may lose";
  }
}

TEST(SweepVerdict, SeldomStopsWhatLosesNothing) {
  const std::vector<SweepArm> arms = arms_of(4, 6);
  int stopped = 0;
  for (std::uint64_t draw = 0; draw < 300; ++draw) {
    for (const SweepArm& arm :
         without_lost(arms, kJudge, 3, outcomes(falling({0.9, 0.9, 0.9, 0.9}), 0.003, draw))) {
      stopped += arm.stopped_after ? 1 : 0;
    }
  }
  EXPECT_LE(stopped, 3);
}

// The arms after early stops, as a sweep trains them, with at most `seeds` seeds each.
std::vector<SweepArm> trained(std::vector<SweepArm> arms, std::size_t seeds,
                              const OutcomeOf& outcome_of) {
  for (std::size_t done = kFirstSeeds; done < seeds; ++done) {
    arms = without_lost(std::move(arms), kJudge, done, outcome_of);
  }
  return arms;
}

// Early stopping looks at the first seeds repeatedly. This must not make the final verdict less
// reliable.
TEST(SweepVerdict, KeepsItsWordThoughPointsAreStopped) {
  const std::vector<SweepArm> arms = arms_of(4, 6);
  const auto means = falling(std::vector<double>(4, 0.9 - 2 * kJudge.margin));
  int claims = 0;
  int stopped = 0;
  constexpr int kSweeps = 400;
  for (std::uint64_t draw = 0; draw < kSweeps; ++draw) {
    const auto outcome_of = outcomes(means, 0.004, draw);
    const auto left = trained(arms, 6, outcome_of);
    claims += recommend(left, results_of(left, kJudge, outcome_of), kJudge) ? 1 : 0;
    for (const SweepArm& arm : left) stopped += arm.stopped_after ? 1 : 0;
  }
  EXPECT_LT(claims, 0.02 * kSweeps);
  EXPECT_GT(stopped, 0) << "or nothing was looked at";
}

TEST(SweepVerdict, IntervalsCoverAndControlsAlarmAtTheirRate) {
  const std::vector<SweepArm> arms = arms_of(4, 4);
  std::map<std::string, double> means;
  for (const SweepArm& arm : arms) means[arm.name] = arm.name == "all" ? 0.9 : 0.893;
  int covered = 0;
  int alarms = 0;
  constexpr int kSweeps = 1000;
  for (std::uint64_t draw = 0; draw < kSweeps; ++draw) {
    const auto results = results_of(arms, kJudge, outcomes(means, 0.003, draw));
    bool alarm = false;  // some point is better or worse than its control
    for (std::size_t i = 1; i <= 4; ++i) alarm |= *results[i].p_control <= 0.05;
    alarms += alarm ? 1 : 0;
    covered += results[1].versus_all->interval->has(-0.007) ? 1 : 0;
  }
  EXPECT_NEAR(covered, 0.95 * kSweeps, 0.025 * kSweeps);
  EXPECT_LT(alarms, 0.07 * kSweeps) << "5 % for all points together";
}

TEST(SweepVerdict, RecommendsTheMostAccurateOfThoseThatAreSmall) {
  const std::vector<SweepArm> arms = arms_of(4, 3);
  SweepJudge judge = kJudge;
  judge.most_images = 850;
  auto results = results_of(arms, judge, outcomes(falling({0.9, 0.8, 0.85, 0.7}), 0.001, 1));
  EXPECT_EQ(recommend(arms, results, judge), 3U);
  const std::string said = recommendation(arms, results, judge);
  EXPECT_THAT(said, HasSubstr("r30 at equal epochs: with 700 images it is the most accurate"));
  EXPECT_THAT(said, HasSubstr("of the 3 that keep at most 850"));
  EXPECT_THAT(said, HasSubstr("the next is r20"));
  results[3].failures.push_back("the loss is not finite");
  EXPECT_EQ(recommend(arms, results, judge), 2U) << "a run of the other diverged";
  judge.most_images = 2000;
  EXPECT_EQ(recommend(arms, results, judge), results[0].mean >= results[1].mean ? 0U : 1U);
}

TEST(SweepVerdict, NeverRecommendsWhatLosesClasses) {
  std::vector<SweepArm> arms = arms_of(3, 4);
  arms[3].facts.classes_gone = 1;
  const auto results = results_of(arms, kJudge, outcomes(falling({0.9, 0.9, 0.9}), 0.0005, 1));
  EXPECT_EQ(results[3].loss, Loss::kNone);
  EXPECT_EQ(recommend(arms, results, kJudge), 2U);
  const auto failed = [](const std::string& job) {
    return Outcome{job.starts_with("all"), "{\"top1\":0.5}"};
  };
  EXPECT_THAT(recommendation(arms, results_of(arms, kJudge, failed), kJudge),
              HasSubstr("no run on all samples"));
}

}  // namespace winnow::app::sweep_verdict_test
