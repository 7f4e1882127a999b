#include "app/experiment/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/rng.h"

namespace winnow::app::compare_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

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
  const ComparisonWithFirst& second = found.others[0];
  ASSERT_EQ(second.pairs.size(), 2U);
  EXPECT_EQ(second.pairs[0].first, 2U);
  EXPECT_EQ(second.pairs[0].other, 1U);
  EXPECT_EQ(second.pairs[1].first, 0U);
  EXPECT_EQ(second.pairs[1].other, 3U);
  ASSERT_TRUE(second.over_seeds);
  EXPECT_TRUE(second.p && second.loss);
  // Its seed is no other's: nothing is said of it.
  const ComparisonWithFirst& third = found.others[1];
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
  EXPECT_THAT(in_words(found.others.front(), 0.05), HasSubstr("compares two nets only"));
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
  for (const ComparisonWithFirst& other : found.others) {
    plain.push_back(other.pairs.front().p);
    corrected.push_back(*other.p);
  }
  EXPECT_EQ(corrected, holm(plain));
  EXPECT_NE(corrected, plain);
}

// p of no loss of two points is 0.043 alone, 0.087 by Holm of two recipes.
TEST(Compare, CorrectsVerdictsOfLossForSeveralRecipes) {
  std::vector<ComparedRun> runs;
  for (const char* const lr : {"0.1", "0.2", "0.3"}) {
    runs.push_back(run_of(lr, 1, 1));
    const std::size_t from = runs.size() == 1 ? 0 : 10;
    for (std::size_t i = from; i < from + 10; ++i) runs.back().predictions[i] = 1;
  }
  const ComparisonWithFirst alone = compare({runs[0], runs[1]}, 0.02).others.front();
  EXPECT_EQ(alone.loss, Loss::kNone);
  EXPECT_THAT(in_words(alone, 0.02), Not(HasSubstr("Holm")));
  const ComparisonWithFirst of_two = compare(runs, 0.02).others.front();
  EXPECT_EQ(of_two.loss, Loss::kUnknown);
  EXPECT_THAT(in_words(of_two, 0.02),
              HasSubstr("p and this verdict are corrected for 2 recipes by Holm"));
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
  EXPECT_EQ(what_differs(first, run_of("0.1", 2, 0)), "only the seed differs");
  for (int i = 0; i < 6; ++i) other.settings["z" + std::to_string(i)] = "1";
  EXPECT_THAT(what_differs(first, other), HasSubstr("z0 not set, here 1"));
  EXPECT_THAT(what_differs(first, other), HasSubstr("and 2 more"));
}

// A run of folds: images are dealt out to them in turn.
ComparedRun folds_run(const std::string& lr, int seed, double accuracy, std::uint32_t folds,
                      std::size_t images = 400) {
  ComparedRun run = run_of(lr, seed, accuracy, images);
  for (std::uint32_t i = 0; i < images; ++i) run.folds.push_back(i % folds + 1);
  return run;
}

TEST(CompareFolds, JoinsThemToOneRunOfWhatEachLeftOut) {
  std::vector<ComparedRun> folds;
  for (std::uint32_t fold = 1; fold <= 2; ++fold) {
    ComparedRun run = run_of("0.1", 1, 0.5, 3);
    run.ids = fold == 1 ? std::vector<SampleId>{11, 15, 16} : std::vector<SampleId>{10, 12, 20};
    run.labels = std::vector<std::int32_t>(3, static_cast<std::int32_t>(fold));
    run.predictions = {static_cast<std::int32_t>(10 * fold), 1, 2};
    run.settings["data.selection"] = "plain-folds2-" + std::to_string(fold);
    run.settings["data.selection_digest"] = std::to_string(fold);
    folds.push_back(run);
  }
  const ComparedRun joined = join_folds(folds, "sgd");
  EXPECT_EQ(joined.name, "sgd");
  EXPECT_THAT(joined.ids, ElementsAre(10, 11, 12, 15, 16, 20));
  EXPECT_THAT(joined.folds, ElementsAre(2, 1, 2, 1, 1, 2));
  EXPECT_THAT(joined.labels, ElementsAre(2, 1, 2, 1, 1, 2));
  EXPECT_THAT(joined.predictions, ElementsAre(20, 10, 1, 1, 2, 2));
  EXPECT_EQ(joined.seed(), "1");
  EXPECT_EQ(joined.settings.at("data.selection"), "plain-folds2");
  EXPECT_FALSE(joined.settings.contains("data.selection_digest")) << "which differs by fold alone";
}

TEST(CompareFolds, PairsFoldByFold) {
  const std::vector<ComparedRun> runs{folds_run("0.1", 1, 0.8, 4), folds_run("0.2", 1, 0.7, 4)};
  const Comparison found = compare(runs, 0.01);
  const ComparisonWithFirst& beside = found.others.front();
  ASSERT_EQ(beside.folds.size(), 4U);
  std::vector<double> first;
  std::vector<double> other;
  for (std::uint32_t fold = 0; fold < 4; ++fold) {
    double right[2] = {0, 0};
    for (std::size_t i = fold; i < 400; i += 4) {
      for (std::size_t run : {0U, 1U}) right[run] += runs[run].predictions[i] == 0 ? 0.01 : 0;
    }
    EXPECT_EQ(beside.folds[fold].fold, fold + 1);
    EXPECT_EQ(beside.folds[fold].images, 100U);
    EXPECT_NEAR(beside.folds[fold].first, right[0], 1e-12);
    EXPECT_NEAR(beside.folds[fold].other, right[1], 1e-12);
    first.push_back(right[0]);
    other.push_back(right[1]);
  }
  // A third of the variance of one difference is added to the quarter that is its mean's.
  const PairedDifference want = paired_difference(first, other, 0.95, 0.01, 1.0 / 3);
  EXPECT_NEAR(beside.over_folds->interval->least, want.interval->least, 1e-12);
  EXPECT_NEAR(beside.over_folds->interval->most, want.interval->most, 1e-12);
  EXPECT_NEAR(*beside.p, *want.p, 1e-12);
  EXPECT_FALSE(beside.over_seeds);
  EXPECT_TRUE(beside.loss);
  EXPECT_THAT(in_words(beside, 0.01), HasSubstr("over 4 folds, corrected"));
}

// Several seeds make the shares of a fold surer, and are no folds more.
TEST(CompareFolds, TakesMeansOverSeeds) {
  std::vector<ComparedRun> runs;
  for (const int seed : {1, 2}) {
    runs.push_back(folds_run("0.1", seed, 0.8, 5));
    runs.push_back(folds_run("0.2", seed, 0.8, 5));
  }
  const ComparisonWithFirst beside = compare(runs, std::nullopt).others.front();
  ASSERT_EQ(beside.pairs.size(), 2U);
  ASSERT_EQ(beside.folds.size(), 5U);
  EXPECT_EQ(beside.over_folds->pairs, 5U);
  double right = 0;
  for (std::size_t i = 0; i < 400; i += 5) {
    right += (runs[0].predictions[i] == 0 ? 1 : 0) + (runs[2].predictions[i] == 0 ? 1 : 0);
  }
  EXPECT_NEAR(beside.folds[0].first, right / 160, 1e-12);
}

TEST(CompareFolds, AreOfImagesThatAllHaveInTheSameFold) {
  std::vector<ComparedRun> runs{folds_run("0.1", 1, 0.5, 2, 6), folds_run("0.2", 1, 0.5, 2, 6)};
  runs[1].folds = {1, 2, 2, 2, 1, 1};
  EXPECT_EQ(keep_common_images(runs), 2U);
  for (const ComparedRun& run : runs) {
    EXPECT_THAT(run.ids, ElementsAre(10, 11, 13, 14));
    EXPECT_THAT(run.folds, ElementsAre(1, 2, 2, 1));
  }
}

// Out-of-fold predictions by a nearest-neighbour learner for N samples of two classes in the plane.
ComparedRun of_neighbours(const std::string& name, std::uint64_t world, double apart,
                          std::uint32_t folds) {
  constexpr std::size_t kSamples = 40;
  CounterRng rng(world, 0, std::hash<std::string>()(name), RandomUse::kTest);
  const auto normal = [&] {
    const double u = rng.uniform();
    return std::sqrt(-2 * std::log(1 - u)) * std::cos(2 * std::numbers::pi * rng.uniform());
  };
  ComparedRun run = folds_run(name, 1, 0, folds, kSamples);
  std::vector<std::array<double, 2>> points;
  for (std::size_t i = 0; i < kSamples; ++i) {
    run.labels[i] = rng.uniform() < 0.5 ? 0 : 1;
    const double middle = run.labels[i] == 0 ? -apart : apart;
    points.push_back({middle + normal(), middle + normal()});
  }
  for (std::size_t i = 0; i < kSamples; ++i) {
    double nearest = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < kSamples; ++k) {
      if (run.folds[k] == run.folds[i]) continue;
      const double away = std::hypot(points[k][0] - points[i][0], points[k][1] - points[i][1]);
      if (away >= nearest) continue;
      nearest = away;
      run.predictions[i] = run.labels[k];
    }
    // Whether it is right is all that is compared.
    run.predictions[i] = run.predictions[i] == run.labels[i] ? 0 : 1;
  }
  run.labels.assign(kSamples, 0);
  return run;
}

// Nets trained on folds of one data set are not independent. Of two learners that are equally good
// on the mean of all data sets Student's test over folds sees a difference more often than it says,
// the corrected one does not, and still it sees one that is there.
TEST(CompareFolds, KeepTheirWordInSimulations) {
  constexpr int kTimes = 1500;
  double plain = 0;
  double corrected = 0;
  double claims = 0;
  double seen = 0;
  for (std::uint64_t world = 1; world <= kTimes; ++world) {
    const std::vector<ComparedRun> runs{of_neighbours("a", world, 0.5, 5),
                                        of_neighbours("b", world, 0.5, 5),
                                        of_neighbours("c", world, 1.5, 5)};
    const ComparisonWithFirst equal = compare({runs[0], runs[1]}, std::nullopt).others.front();
    std::vector<double> first;
    std::vector<double> other;
    for (const FoldPair& fold : equal.folds) {
      first.push_back(fold.first);
      other.push_back(fold.other);
    }
    plain += *paired_difference(first, other, 0.95, 5.0 / 40).p < 0.05 ? 1 : 0;
    corrected += *equal.p < 0.05 ? 1 : 0;
    // The first of these loses far more than twice the margin against the other.
    const ComparisonWithFirst worse = compare({runs[2], runs[0]}, 0.05).others.front();
    claims += worse.loss == Loss::kNone ? 1 : 0;
    seen += *worse.p < 0.05 ? 1 : 0;
  }
  EXPECT_GT(plain / kTimes, 0.075);
  EXPECT_LT(corrected / kTimes, 0.06);
  EXPECT_LT(claims / kTimes, 0.01);
  EXPECT_GT(seen / kTimes, 0.3);
}

// Eight recipes that all lose just the margin: one verdict of "no loss" is a false one.
TEST(Compare, AllVerdictsTogetherKeepTheirLevelInSimulations) {
  int claims = 0;
  constexpr int kTimes = 300;
  for (int time = 0; time < kTimes; ++time) {
    std::vector<ComparedRun> runs;
    for (int recipe = 0; recipe < 9; ++recipe) {
      for (int seed = 0; seed < 3; ++seed) {
        runs.push_back(
            run_of(std::to_string(recipe), 10 * time + seed, recipe == 0 ? 0.9 : 0.85, 200));
      }
    }
    const Comparison found = compare(runs, 0.05);
    claims += std::ranges::any_of(
                  found.others,
                  [](const ComparisonWithFirst& other) { return other.loss == Loss::kNone; })
                  ? 1
                  : 0;
  }
  EXPECT_LT(claims, 0.05 * kTimes + 12);
}

// Few equal recipes are said to differ. A recipe that loses twice the margin is never said to lose
// nothing.
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

}  // namespace winnow::app::compare_test
