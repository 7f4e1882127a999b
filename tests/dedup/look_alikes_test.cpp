#include "dedup/verify/look_alikes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <vector>

#include "common/rng.h"

namespace winnow::dedup::look_alikes_test {

constexpr double kMedianOfCopies = 8;

double probability_of(double score) { return 1 / (1 + std::exp(-score)); }

// Draws scores.
class Scores {
 public:
  explicit Scores(std::uint64_t seed) : rng_(seed, 0, 0, RandomUse::kTest) {}

  // Scores around a mean, with tails that fall off by the factor e every `scale`.
  void add_lump(int count, double mean, double scale) {
    for (int i = 0; i < count; ++i) {
      const double away = -scale * std::log(uniform());
      put(uniform() < 0.5 ? mean + away : mean - away);
    }
  }
  void add_normal(int count, double mean, double deviation) {
    for (int i = 0; i < count; ++i) {
      const double radius = std::sqrt(-2 * std::log(uniform()));
      put(mean + deviation * radius * std::cos(2 * std::numbers::pi * uniform()));
    }
  }

  std::optional<LookAlikes> look_alikes() const {
    ScoreCounts counts;
    for (const double probability : probabilities_) counts.add(probability);
    return find_look_alikes(counts, kMedianOfCopies);
  }
  const std::vector<double>& probabilities() const { return probabilities_; }

 private:
  double uniform() { return (rng_.next_u32() + 0.5) * 0x1p-32; }
  void put(double score) { probabilities_.push_back(probability_of(score)); }

  CounterRng rng_;
  std::vector<double> probabilities_;
};

TEST(ScoreCounts, CountsLogOddsInSteps) {
  ScoreCounts counts;
  for (const double score : {-40.0, -2.5, -0.1, 0.1, 0.9, 12.5}) counts.add(probability_of(score));
  counts.add(0);
  counts.add(1);
  EXPECT_EQ(counts.at(ScoreCounts::kLeast), 1);
  EXPECT_EQ(counts.at(-3), 1);
  EXPECT_EQ(counts.at(-1), 1);
  EXPECT_EQ(counts.at(0), 2);
  EXPECT_EQ(counts.at(12), 1);
  EXPECT_EQ(counts.at(ScoreCounts::kMost), 1);
  EXPECT_EQ(counts.at(ScoreCounts::kMost + 1), 0);
}

TEST(LookAlikes, FallOffAsTheyWereDrawn) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Scores scores(seed);
    scores.add_lump(6000, -4, 2);
    scores.add_normal(2000, 12, 2.5);
    const auto found = scores.look_alikes();
    ASSERT_TRUE(found) << seed;
    EXPECT_NEAR(found->scale, 2, 0.5) << seed;
    // The expected number, by the tail of the 3000 above the mean.
    const double drawn = 3000 * std::exp(-(0 + 4) / 2.0);
    EXPECT_NEAR(found->expected(0.5), drawn, 0.5 * drawn) << seed;
  }
}

TEST(LookAlikes, AreLeftOutAndCopiesKept) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Scores scores(seed);
    scores.add_lump(6000, -1, 1.2);
    const std::size_t alike = scores.probabilities().size();
    scores.add_normal(2000, 15, 2);
    const auto found = scores.look_alikes();
    ASSERT_TRUE(found) << seed;
    const double least = probable_beside(*found, scores.probabilities(), 0.9, 0.5).value();
    int wrong = 0;
    int right = 0;
    for (std::size_t i = 0; i < scores.probabilities().size(); ++i) {
      if (scores.probabilities()[i] >= least) ++(i < alike ? wrong : right);
    }
    EXPECT_LE(wrong, 60) << seed;  // about a hundredth is expected, and the tail is an estimate
    EXPECT_GE(right, 1950) << seed;
  }
}

TEST(LookAlikes, AreNotSeenAmongCopiesAlone) {
  Scores scores(3);
  scores.add_normal(3000, 12, 3);
  EXPECT_FALSE(scores.look_alikes());
}

TEST(LookAlikes, AreNotSeenInFewPairs) {
  Scores scores(4);
  scores.add_lump(40, -3, 1);
  EXPECT_FALSE(scores.look_alikes());
  EXPECT_FALSE(Scores(5).look_alikes());
}

TEST(ProbableWhenNear, LeavesOutLookAlikesThatFallOffAsOthersDo) {
  const LookAlikes look_alikes{.from = 1, .pairs = 1000, .scale = 1.5};
  ScoreCounts near;
  Scores alike(6);
  alike.add_lump(400, 1, 1.5);
  Scores copies(7);
  copies.add_normal(300, 16, 2);
  for (const double probability : alike.probabilities()) near.add(probability);
  for (const double probability : copies.probabilities()) near.add(probability);
  const double least = probable_when_near(look_alikes, near, 0.9, 0.5).value();
  const auto left = [&](const Scores& scores) {
    return std::ranges::count_if(scores.probabilities(), [&](double p) { return p >= least; });
  };
  EXPECT_LE(left(alike), 9);  // three are expected
  EXPECT_GE(left(copies), 295);
  EXPECT_NEAR(look_alikes.expected_of(near, least), 3, 1);
}

TEST(ProbableBeside, KeepsTheLeastWhereFewAreExpected) {
  // 0.07 of them are expected above 0.9
  const LookAlikes few{.from = -5, .pairs = 100, .scale = 1};
  EXPECT_EQ(probable_beside(few, {}, 0.9, 0.5), 0.9);
  const LookAlikes many{.from = 0, .pairs = 1e6, .scale = 50};
  EXPECT_FALSE(probable_beside(many, {}, 0.9, 0.5));
}

}  // namespace winnow::dedup::look_alikes_test
