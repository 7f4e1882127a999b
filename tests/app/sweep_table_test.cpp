#include "app/experiment/sweep_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include "app/experiment/sweep_verdict.h"
#include "common/error.h"
#include "common/rng.h"

namespace winnow::app::sweep_table_test {

using ::testing::HasSubstr;

constexpr SweepJudge kJudge{.margin = 0.005, .held_out_images = 10'000};

// Arms with this many seeds: all images, and a quarter and a half removed, each with its control.
std::vector<SweepArm> arms_of(int seeds) {
  std::vector<SweepArm> arms{
      {.name = "all", .budget = "epochs", .kept = 100},
      {.name = "phash-r25-first", .budget = "epochs", .kept = 75, .removed = 25, .control = 3},
      {.name = "phash-r50-first", .budget = "epochs", .kept = 50, .removed = 50, .control = 4},
      {.name = "control-phash-r25-first", .budget = "epochs", .kept = 75, .removed = 25},
      {.name = "control-phash-r50-first", .budget = "epochs", .kept = 50, .removed = 50}};
  for (SweepArm& arm : arms) {
    for (int seed = 0; seed < seeds; ++seed) arm.jobs.push_back(arm.name + std::to_string(seed));
  }
  return arms;
}

// Accuracies of each arm, with normal noise of this standard deviation.
std::vector<ArmResult> run_all(const std::vector<SweepArm>& arms, const std::vector<double>& means,
                               double noise, std::uint64_t seed) {
  std::map<std::string, double> top1;
  CounterRng rng(seed, 0, 0, RandomUse::kTest);
  for (std::size_t i = 0; i < arms.size(); ++i) {
    for (const std::string& job : arms[i].jobs) {
      const double normal = std::sqrt(-2 * std::log(1 - rng.uniform())) *
                            std::cos(2 * std::numbers::pi * rng.uniform());
      top1[job] = means[i] + noise * normal;
    }
  }
  return results_of(arms, kJudge, [&](const std::string& job) {
    return Outcome{false, "{\"top1\":" + std::to_string(top1.at(job)) + "}"};
  });
}

TEST(SweepTable, RecommendsTheHardestThatLosesNothing) {
  const std::vector<SweepArm> arms = arms_of(4);
  const std::vector<double> means{0.93, 0.931, 0.90, 0.92, 0.89};
  const std::vector<ArmResult> results = run_all(arms, means, 0.0005, 1);
  EXPECT_EQ(results[1].loss, Loss::kNone);
  EXPECT_EQ(results[2].loss, Loss::kSome);
  EXPECT_EQ(recommend(arms, results, kJudge), 1U);
  EXPECT_NEAR(results[1].mean, 0.931, 0.001);
  EXPECT_EQ(results[1].runs(), 4U);
  EXPECT_TRUE(results[1].deviation);
  EXPECT_GT(results[1].versus_control->interval->least, 0);
  const std::string said = recommendation(arms, results, kJudge);
  EXPECT_THAT(said, HasSubstr("phash-r25-first at equal epochs: it removes 25.0 %"));
  EXPECT_THAT(said, HasSubstr("it is better than removing as many at random"));
  // A control is never recommended.
  EXPECT_EQ(recommend(arms, run_all(arms, {0.93, 0.9, 0.9, 0.93, 0.93}, 0.0005, 1), kJudge),
            std::nullopt);
}

TEST(SweepTable, SaysNothingOfOneSeedOrOfMuchNoise) {
  const std::vector<SweepArm> one = arms_of(1);
  const std::vector<ArmResult> alone = run_all(one, {0.9, 0.9, 0.9, 0.9, 0.9}, 0, 1);
  EXPECT_FALSE(alone[1].loss);
  EXPECT_TRUE(alone[1].versus_all);
  EXPECT_THAT(recommendation(one, alone, kJudge), HasSubstr("--seeds 3"));
  const std::vector<SweepArm> arms = arms_of(3);
  const std::vector<ArmResult> noisy = run_all(arms, {0.5, 0.5, 0.5, 0.5, 0.5}, 0.05, 1);
  EXPECT_THAT(recommendation(arms, noisy, kJudge), HasSubstr("keep all"));
}

TEST(SweepTable, HasRunsThatFailedOrAreNotThereAsRows) {
  const std::vector<SweepArm> arms = arms_of(3);
  const auto results = results_of(arms, kJudge, [&](const std::string& job) {
    if (job == "phash-r25-first1") return std::optional<Outcome>({true, "the loss is not finite"});
    if (job == "phash-r50-first2") return std::optional<Outcome>();
    return std::optional<Outcome>({false, "{\"top1\":0.5}"});
  });
  EXPECT_EQ(results[1].runs(), 2U);
  EXPECT_THAT(results[1].failures, testing::ElementsAre("the loss is not finite"));
  EXPECT_FALSE(results[1].loss) << "a run of it diverged";
  EXPECT_EQ(results[2].runs(), 2U);
  EXPECT_EQ(results[2].versus_all->pairs, 2U);
  EXPECT_EQ(results[2].loss, Loss::kNone);
  EXPECT_THROW(results_of(arms, kJudge,
                          [](const std::string&) {
                            return Outcome{false, "{}"};
                          }),
               FormatError);
}

TEST(SweepTable, SeldomRecommendsWhatLosesTwiceTheMargin) {
  const std::vector<SweepArm> arms = arms_of(3);
  int recommended = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const auto results = run_all(arms, {0.93, 0.92, 0.92, 0.92, 0.92}, 0.002, seed);
    recommended += recommend(arms, results, kJudge) ? 1 : 0;
  }
  EXPECT_LT(recommended, 0.03 * 400);
}

}  // namespace winnow::app::sweep_table_test
