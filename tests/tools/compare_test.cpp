#include "tools/experiment/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/error.h"
#include "common/rng.h"

namespace winnow::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A run whose accuracy is about `accuracy`, on `images` images of label 0.
ComparedRun run_of(const std::string& lr, int seed, double accuracy, std::size_t images = 400) {
  ComparedRun run{.name = "lr-" + lr + "-" + std::to_string(seed),
                  .settings = {{"recipe.lr", lr}, {"recipe.seed", std::to_string(seed)}},
                  .ids = {},
                  .labels = std::vector<std::int32_t>(images),
                  .predictions = {}};
  CounterRng rng(static_cast<std::uint64_t>(seed), 0, std::hash<std::string>()(lr),
                 RandomUse::kTest);
  for (std::size_t i = 0; i < images; ++i) {
    run.ids.push_back(i + 10);
    run.predictions.push_back(rng.uniform() < accuracy ? 0 : 1);
  }
  return run;
}

TEST(Compare, PairsRecipesBySeed) {
  const std::vector<ComparedRun> runs{run_of("0.1", 1, 0.8), run_of("0.2", 2, 0.8),
                                      run_of("0.1", 2, 0.8), run_of("0.2", 1, 0.8),
                                      run_of("0.1", 3, 0.8), run_of("0.3", 9, 0.8)};
  const Comparison found = compare(runs, 0.01);
  EXPECT_THAT(found.recipes, ElementsAre(ElementsAre(0, 2, 4), ElementsAre(1, 3), ElementsAre(5)));
  ASSERT_EQ(found.others.size(), 2U);
  const BesideFirst& second = found.others[0];
  ASSERT_EQ(second.pairs.size(), 2U);
  EXPECT_EQ(second.pairs[0].first, 2U);
  EXPECT_EQ(second.pairs[0].other, 1U);
  EXPECT_EQ(second.pairs[1].first, 0U);
  EXPECT_EQ(second.pairs[1].other, 3U);
  ASSERT_TRUE(second.over_seeds);
  EXPECT_TRUE(second.p && second.loss);
  // Its seed is no other's: nothing is said of it.
  const BesideFirst& third = found.others[1];
  EXPECT_TRUE(third.pairs.empty());
  EXPECT_FALSE(third.over_seeds || third.p || third.loss);
  EXPECT_THAT(in_words(third, 0.01), HasSubstr("train both recipes with the same seeds"));
}

TEST(Compare, TellsTwoNetsFromTwoRecipes) {
  const std::vector<ComparedRun> runs{run_of("0.1", 1, 0.9), run_of("0.2", 2, 0.6)};
  const Comparison found = compare(runs, 0.05);
  ASSERT_EQ(found.others.front().pairs.size(), 1U);
  EXPECT_LT(*found.others.front().p, 1e-6);
  EXPECT_EQ(found.others.front().loss, Loss::kSome);
  EXPECT_THAT(in_words(found.others.front(), 0.05), HasSubstr("of these two nets"));
  EXPECT_FALSE(compare(runs, std::nullopt).others.front().loss) << "no margin, no verdict";
  // Where only the seed differs each run is by itself.
  const std::vector<ComparedRun> seeds{run_of("0.1", 1, 0.9), run_of("0.1", 2, 0.9)};
  EXPECT_EQ(compare(seeds, std::nullopt).recipes.size(), 2U);
}

TEST(Compare, CorrectsForSeveralRecipes) {
  std::vector<ComparedRun> runs{run_of("0.1", 1, 0.85)};
  for (const char* const lr : {"0.2", "0.3", "0.4", "0.5"}) runs.push_back(run_of(lr, 1, 0.8));
  const Comparison found = compare(runs, std::nullopt);
  std::vector<double> plain;
  std::vector<double> corrected;
  for (const BesideFirst& other : found.others) {
    plain.push_back(other.pairs.front().p);
    corrected.push_back(*other.p);
  }
  EXPECT_EQ(corrected, holm(plain));
  EXPECT_NE(corrected, plain);
}

TEST(Compare, IsOfTheImagesThatAllHave) {
  std::vector<ComparedRun> runs{run_of("0.1", 1, 0.5, 6), run_of("0.2", 1, 0.5, 8)};
  runs[0].ids = {10, 11, 12, 20, 21, 22};
  runs[1].ids = {11, 12, 13, 14, 21, 22, 23, 24};
  runs[0].predictions = {0, 1, 2, 3, 4, 5};
  runs[1].predictions = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(keep_common_images(runs), 4U);
  for (const ComparedRun& run : runs) EXPECT_THAT(run.ids, ElementsAre(11, 12, 21, 22));
  EXPECT_THAT(runs[0].predictions, ElementsAre(1, 2, 4, 5));
  EXPECT_THAT(runs[1].predictions, ElementsAre(0, 1, 4, 5));
  runs[0].ids = {1, 2, 3, 4};
  EXPECT_THROW(keep_common_images(runs), UsageError);
}

TEST(Compare, ListsImagesThatDifferMostFirst) {
  std::vector<ComparedRun> runs;
  const std::vector<std::vector<std::int32_t>> predictions{{0, 0, 1, 1, 0},
                                                           {0, 1, 1, 1, 0},  // the first recipe's
                                                           {0, 1, 0, 0, 1},
                                                           {0, 1, 0, 1, 1}};  // the other's
  for (int i = 0; i < 4; ++i) {
    runs.push_back(run_of(i < 2 ? "0.1" : "0.2", i % 2, 0, 5));
    runs.back().predictions = predictions[static_cast<std::size_t>(i)];
  }
  const DifferingImages found = differing_images(runs, compare(runs, std::nullopt), 1);
  std::vector<std::size_t> gained;
  for (const DifferingImage& image : found.gained) gained.push_back(image.place);
  EXPECT_THAT(gained, ElementsAre(2, 3));
  EXPECT_EQ(found.gained[1].other, 0.5);
  std::vector<std::size_t> lost;
  for (const DifferingImage& image : found.lost) lost.push_back(image.place);
  EXPECT_THAT(lost, ElementsAre(4, 1));
}

TEST(Compare, SaysWhatDiffers) {
  const ComparedRun first = run_of("0.1", 1, 0);
  ComparedRun other = run_of("0.2", 2, 0);
  EXPECT_EQ(what_differs(first, other), "recipe.lr 0.1, here 0.2");
  EXPECT_EQ(what_differs(first, run_of("0.1", 2, 0)), "nothing but the seed differs");
  for (int i = 0; i < 6; ++i) other.settings["z" + std::to_string(i)] = "1";
  EXPECT_THAT(what_differs(first, other), HasSubstr("z0 not set, here 1"));
  EXPECT_THAT(what_differs(first, other), HasSubstr("and 2 more"));
}

// Of equal recipes few are told to differ, and of one that loses twice the margin none is told to
// lose nothing.
TEST(Compare, KeepsItsWordInSimulations) {
  int alarms = 0;
  int claims = 0;
  constexpr int kTimes = 300;
  for (int time = 0; time < kTimes; ++time) {
    std::vector<ComparedRun> runs;
    for (int seed = 0; seed < 3; ++seed) {
      runs.push_back(run_of("a", 10 * time + seed, 0.9, 200));
      runs.push_back(run_of("b", 10 * time + seed, 0.9, 200));
      runs.push_back(run_of("c", 10 * time + seed, 0.8, 200));
    }
    const Comparison found = compare(runs, 0.05);
    alarms += *found.others[0].p < 0.05 ? 1 : 0;
    claims += found.others[1].loss == Loss::kNone ? 1 : 0;
  }
  EXPECT_LT(alarms, 0.05 * kTimes + 12);
  EXPECT_LT(claims, 0.02 * kTimes);
}

}  // namespace
}  // namespace winnow::tools
