#include "train/plan/algorithms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace winnow::train::algorithms_test {

using Layers = std::vector<Candidates>;

Layers random_layers(std::mt19937& random, std::size_t layers, std::size_t candidates) {
  Layers made(layers);
  for (Candidates& layer : made) {
    for (std::size_t i = 0; i < candidates; ++i) {
      layer.push_back({.seconds = static_cast<double>(1 + random() % 1000) * 1e-5,
                       .scratch_bytes = random() % 4 == 0 ? 0 : random() % 1'000'000});
    }
  }
  return made;
}

// The fewest seconds of all choices, by trying each; nullopt if none fits.
std::optional<double> by_brute_force(const Layers& layers, std::size_t bytes, bool shared) {
  std::optional<double> best;
  std::vector<std::size_t> at(layers.size(), 0);
  for (bool more = true; more;) {
    double seconds = 0;
    std::size_t sum = 0;
    std::size_t most = 0;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      seconds += layers[i][at[i]].seconds;
      sum += layers[i][at[i]].scratch_bytes;
      most = std::max(most, layers[i][at[i]].scratch_bytes);
    }
    if ((shared ? most : sum) <= bytes && (!best || seconds < *best)) best = seconds;
    more = false;
    for (std::size_t i = 0; i < layers.size() && !more; ++i) {
      more = ++at[i] < layers[i].size();
      if (!more) at[i] = 0;
    }
  }
  return best;
}

void expect_same(const std::optional<Algorithms>& got, const std::optional<double>& want,
                 const Layers& layers, std::size_t bytes, bool shared) {
  ASSERT_EQ(got.has_value(), want.has_value());
  if (!want) return;
  EXPECT_NEAR(got->seconds, *want, 1e-12);
  double seconds = 0;
  std::size_t sum = 0;
  std::size_t most = 0;
  ASSERT_EQ(got->chosen.size(), layers.size());
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const Candidate& one = layers[i].at(got->chosen[i]);
    seconds += one.seconds;
    sum += one.scratch_bytes;
    most = std::max(most, one.scratch_bytes);
  }
  EXPECT_NEAR(seconds, got->seconds, 1e-12);
  EXPECT_EQ(got->scratch_bytes, shared ? most : sum);
  EXPECT_LE(got->scratch_bytes, bytes);
}

TEST(Algorithms, AreThoseOfBruteForceInTenThousandCases) {
  std::mt19937 random(7);
  for (int round = 0; round < 10'000; ++round) {
    const Layers layers = random_layers(random, 1 + random() % 6, 1 + random() % 6);
    const std::size_t own = random() % (600'000 * layers.size());
    const std::size_t shared = random() % 1'000'000;
    expect_same(choose_with_own_scratch(layers, own), by_brute_force(layers, own, false), layers,
                own, false);
    expect_same(choose_with_shared_scratch(layers, shared), by_brute_force(layers, shared, true),
                layers, shared, true);
    if (HasFailure()) FAIL() << "round " << round;
  }
}

// Layers whose kernels get faster in near proportion to their memory: the hardest case to choose
// from. Sizes are multiples of kPiece.
constexpr std::size_t kPiece = 10'000;
Layers even_layers(std::mt19937& random, std::size_t layers, std::size_t candidates) {
  Layers made(layers);
  for (Candidates& layer : made) {
    for (std::size_t i = 0; i < candidates; ++i) {
      const std::size_t pieces = random() % 100;
      const double noise = static_cast<double>(random() % 1000) * 1e-9;
      layer.push_back({.seconds = 2e-3 - 1e-5 * static_cast<double>(pieces) + noise,
                       .scratch_bytes = pieces * kPiece});
    }
  }
  return made;
}

// The fewest seconds of all choices within `pieces` of memory together, by dynamic programming.
std::optional<double> by_tables(const Layers& layers, std::size_t pieces) {
  constexpr double kNever = 1e9;
  std::vector<double> fastest(pieces + 1, 0);
  for (const Candidates& layer : layers) {
    std::vector<double> next(pieces + 1, kNever);
    for (const Candidate& one : layer) {
      const std::size_t takes = one.scratch_bytes / kPiece;
      for (std::size_t p = takes; p <= pieces; ++p) {
        next[p] = std::min(next[p], fastest[p - takes] + one.seconds);
      }
    }
    fastest = next;
  }
  return fastest.back() < kNever ? std::optional(fastest.back()) : std::nullopt;
}

// Trying them all is impossible: there are 8^160 choices.
TEST(Algorithms, OfManyLayersAreTheFastestToo) {
  std::mt19937 random(11);
  for (const std::size_t pieces : {200u, 1000u, 4000u, 8000u, 12'000u}) {
    const Layers layers = even_layers(random, 160, 8);
    const std::size_t bytes = pieces * kPiece + kPiece / 2;
    const auto chosen = choose_with_own_scratch(layers, bytes);
    expect_same(chosen, by_tables(layers, pieces), layers, bytes, false);
  }
}

TEST(Algorithms, WithAllTheMemoryTheFastestOfEachLayerIsTaken) {
  std::mt19937 random(13);
  const Layers layers = random_layers(random, 40, 8);
  const auto own = choose_with_own_scratch(layers, 1u << 30);
  const auto shared = choose_with_shared_scratch(layers, 1u << 30);
  ASSERT_TRUE(own && shared);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const double fastest = std::ranges::min(layers[i], {}, &Candidate::seconds).seconds;
    EXPECT_EQ(layers[i][own->chosen[i]].seconds, fastest);
    EXPECT_EQ(layers[i][shared->chosen[i]].seconds, fastest);
  }
}

TEST(Algorithms, ThereAreNoneWhereNothingFits) {
  const Layers layers{{{"a", 1, 10}}, {{"b", 1, 5}, {"c", 2, 4}}};
  EXPECT_FALSE(choose_with_own_scratch(layers, 13));
  EXPECT_EQ(choose_with_own_scratch(layers, 14)->chosen, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(choose_with_own_scratch(layers, 15)->chosen, (std::vector<std::size_t>{0, 0}));
  EXPECT_FALSE(choose_with_shared_scratch(layers, 9));
  EXPECT_EQ(choose_with_shared_scratch(layers, 10)->chosen, (std::vector<std::size_t>{0, 0}));
}

KernelTimes kernel(const char* name, std::vector<double> seconds, std::size_t bytes = 0) {
  return {.name = name, .seconds = std::move(seconds), .scratch_bytes = bytes};
}

TEST(ChooseKernels, TakesWhatIsSurelyFasterAlone) {
  const std::vector<LayerTimes> layers{
      {"first", 2, {kernel("own", {1.0, 1.1, 0.9}, 10), kernel("fast", {0.4, 0.5, 0.6}, 80)}},
      {"noisy", 1, {kernel("own", {1.0, 1.1, 0.9}), kernel("at times", {0.5, 0.5, 1.2})}},
      {"little", 1, {kernel("own", {1.0}), kernel("hardly", {0.96})}}};
  const auto plan = choose_kernels(layers, 100);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->kernels, (std::map<std::string, std::string>{{"first", "fast"}}));
  EXPECT_DOUBLE_EQ(plan->own_seconds, 4);
  EXPECT_DOUBLE_EQ(plan->seconds, 3);
  EXPECT_EQ(plan->scratch_bytes, 80u);
  EXPECT_EQ(plan->own_scratch_bytes, 10u);
}

TEST(ChooseKernels, FitIntoMemoryWhateverTheyTake) {
  const std::vector<LayerTimes> layers{
      {"layer",
       1,
       {kernel("own", {1.0}, 50), kernel("fast", {0.5}, 80), kernel("small", {2.0}, 20)}}};
  EXPECT_EQ(choose_kernels(layers, 80)->kernels.at("layer"), "fast");
  EXPECT_TRUE(choose_kernels(layers, 79)->kernels.empty());
  EXPECT_EQ(choose_kernels(layers, 49)->kernels.at("layer"), "small");
  EXPECT_EQ(choose_kernels(layers, 49)->seconds, 2.0);
  EXPECT_FALSE(choose_kernels(layers, 19));
  EXPECT_TRUE(choose_kernels({}, 0)->kernels.empty());
}

}  // namespace winnow::train::algorithms_test
