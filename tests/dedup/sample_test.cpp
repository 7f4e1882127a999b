#include "dedup/review/sample.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "common/rng.h"

namespace winnow::dedup::sample_test {

using testing::ElementsAre;

Hash128 hash_of(std::uint32_t row) {
  Hash128 hash;
  for (int i = 0; i < 4; ++i) hash.bytes[i] = static_cast<std::uint8_t>(row >> (24 - 8 * i));
  return hash;
}

std::uint32_t row_of(const Hash128& hash) {
  std::uint32_t row = 0;
  for (int i = 0; i < 4; ++i) row = row << 8 | hash.bytes[i];
  return row;
}

// Rows with alternating labels 0 and 1, every third without a label; every fifth row is in test.
Fingerprints table_of(std::uint32_t rows) {
  Fingerprints table;
  for (std::uint32_t row = 0; row < rows; ++row) {
    table.ids.push_back(row * 7);
    table.splits.push_back(row % 5 == 0 ? Split::kTest : Split::kTrain);
    const std::int32_t label = row % 2;
    table.labels.push_back(row % 3 == 0 ? std::span<const std::int32_t>() : std::span(&label, 1));
    table.file_hashes.push_back(hash_of(row));
  }
  return table;
}

PairSource source_of(const std::vector<Edge>& edges) {
  return [&edges](const std::function<void(const Edge&)>& take) {
    for (const Edge& edge : edges) take(edge);
  };
}

std::vector<Edge> random_pairs(std::uint32_t rows, std::size_t count, std::uint32_t most) {
  CounterRng random(1, 0, 0, RandomUse::kTest);
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
  std::vector<Edge> edges;
  while (edges.size() < count) {
    const auto [a, b] = std::minmax({random.below(rows), random.below(rows)});
    if (a == b || !seen.insert({a, b}).second) continue;
    // Each distance is twice as frequent as the one before.
    std::uint32_t distance = most;
    while (distance > 0 && random.below(2) == 0) --distance;
    edges.push_back({a, b, distance});
  }
  return edges;
}

TEST(Sample, HasEveryPairInOneStratum) {
  const Fingerprints table = table_of(300);
  const auto edges = random_pairs(300, 5000, 6);
  const PairSample sample =
      draw_pairs(table, source_of(edges), {.hash = "phash", .threshold = 6, .count = 200});
  std::uint64_t pairs = 0;
  std::uint64_t drawn = 0;
  std::set<std::array<Hash128, 2>> each;
  for (const auto& stratum : sample.strata) {
    pairs += stratum.pairs;
    drawn += stratum.drawn.size();
    EXPECT_LE(stratum.drawn.size(), stratum.pairs);
    EXPECT_GE(stratum.drawn.size(), 1U);
    for (const auto& pair : stratum.drawn) {
      EXPECT_LT(pair[0], pair[1]);
      EXPECT_TRUE(each.insert(pair).second);
      const Edge* found = nullptr;
      for (const Edge& edge : edges) {
        if (edge.a == row_of(pair[0]) && edge.b == row_of(pair[1])) found = &edge;
      }
      ASSERT_NE(found, nullptr);
      EXPECT_EQ(static_cast<int>(found->distance), stratum.distance);
      const bool labelled = found->a % 3 != 0 && found->b % 3 != 0;
      EXPECT_EQ(stratum.classes, !labelled                      ? "unknown"
                                 : found->a % 2 == found->b % 2 ? "same"
                                                                : "other");
      EXPECT_EQ(stratum.splits, (found->a % 5 == 0) == (found->b % 5 == 0) ? "same" : "other");
    }
  }
  EXPECT_EQ(pairs, 5000U);
  EXPECT_EQ(drawn, 200U);
}

TEST(Sample, IsTheSameWhateverTheOrderOfThePairs) {
  const Fingerprints table = table_of(200);
  auto edges = random_pairs(200, 2000, 4);
  const SampleOptions options{.hash = "phash", .threshold = 4, .count = 100, .seed = 3};
  const PairSample sample = draw_pairs(table, source_of(edges), options);
  std::ranges::reverse(edges);
  for (Edge& edge : edges) std::swap(edge.a, edge.b);
  EXPECT_EQ(draw_pairs(table, source_of(edges), options), sample);
  SampleOptions other = options;
  other.seed = 4;
  EXPECT_NE(draw_pairs(table, source_of(edges), other), sample);
}

TEST(Sample, LeavesOutPairsOfOneFile) {
  Fingerprints table = table_of(10);
  table.file_hashes[1] = table.file_hashes[2];
  const std::vector<Edge> edges{{1, 2, 0}, {3, 4, 0}};
  const PairSample sample = draw_pairs(table, source_of(edges), {.hash = "exact", .count = 10});
  EXPECT_EQ(sample.certain, 1U);
  ASSERT_EQ(sample.strata.size(), 1U);
  EXPECT_EQ(sample.strata[0].pairs, 1U);
  EXPECT_THAT(sample.strata[0].drawn, ElementsAre(std::array{hash_of(3), hash_of(4)}));
}

TEST(Sample, DrawsAllWhereThereAreFew) {
  const Fingerprints table = table_of(50);
  const auto edges = random_pairs(50, 40, 4);
  const PairSample sample =
      draw_pairs(table, source_of(edges), {.hash = "phash", .threshold = 4, .count = 400});
  for (const auto& stratum : sample.strata) EXPECT_EQ(stratum.drawn.size(), stratum.pairs);
  EXPECT_TRUE(draw_pairs(table, source_of({}), {.hash = "phash", .threshold = 4}).strata.empty());
}

// With seeds 0 to 399, each of the 40 pairs of a stratum is drawn in a quarter of the samples,
// within five standard deviations.
TEST(Sample, DrawsEachPairAsOften) {
  Fingerprints table = table_of(60);
  std::vector<Edge> edges;
  for (std::uint32_t i = 0; i < 40; ++i) edges.push_back({6 * (i % 7) + 1, 49 + i % 6, 2});
  for (std::uint32_t i = 0; i < 40; ++i) edges[i] = {i, i + 20, 2};
  for (auto& split : table.splits) split = Split::kTrain;
  table.labels = {};
  for (std::uint32_t row = 0; row < 60; ++row) table.labels.push_back({});
  std::vector<int> times(40, 0);
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const PairSample sample = draw_pairs(
        table, source_of(edges), {.hash = "phash", .threshold = 4, .count = 10, .seed = seed});
    for (const auto& pair : sample.strata.at(0).drawn) ++times[row_of(pair[0])];
  }
  for (const int time : times) EXPECT_NEAR(time, 100, 5 * std::sqrt(400 * 0.25 * 0.75));
}

TEST(Allocation, GoesBySizeAndSpread) {
  EXPECT_THAT(allocate({1000, 1000}, {0.1, 0.3}, 40), ElementsAre(10, 30));
  EXPECT_THAT(allocate({3000, 1000}, {0.2, 0.2}, 40), ElementsAre(30, 10));
  // Other strata make up for what a small one lacks.
  EXPECT_THAT(allocate({5, 1000, 1000}, {0.5, 0.001, 0.001}, 25), ElementsAre(5, 10, 10));
  // Each stratum gets one pair first; if there are too few, the strata with the greatest claims do.
  EXPECT_THAT(allocate({1, 1000000, 1}, {0.0, 0.5, 0.0}, 10), ElementsAre(1, 8, 1));
  EXPECT_THAT(allocate({10, 1000, 100}, {0.5, 0.5, 0.5}, 2), ElementsAre(0, 1, 1));
  EXPECT_THAT(allocate({2, 3}, {0.5, 0.5}, 99), ElementsAre(2, 3));
  EXPECT_THAT(allocate({}, {}, 5), ElementsAre());
}

// Precision by strata, as `winnow tune` computes it. The mean over many samples is the true
// precision. The error is smaller than with a uniform sample of the same size.
TEST(Sample, TellsPrecisionWithoutBiasAndBetterThanDrawingFromAll) {
  const Fingerprints table = table_of(400);
  const auto edges = random_pairs(400, 20000, 6);
  const auto is_true = [](const Edge& edge) {  // one in 2^(7 - d) is false
    const std::uint32_t mixed = (edge.a * 2654435761U ^ edge.b * 40503U) >> 7;
    return mixed % (1U << (7 - edge.distance)) != 0;
  };
  std::map<std::array<Hash128, 2>, bool> truth;
  double precision = 0;
  for (const Edge& edge : edges) {
    truth[{hash_of(edge.a), hash_of(edge.b)}] = is_true(edge);
    precision += is_true(edge) ? 1.0 / static_cast<double>(edges.size()) : 0;
  }
  double mean = 0;
  double error = 0;
  constexpr int kSamples = 200;
  constexpr double kCount = 150;
  for (std::uint64_t seed = 0; seed < kSamples; ++seed) {
    const PairSample sample = draw_pairs(
        table, source_of(edges), {.hash = "phash", .threshold = 6, .count = 150, .seed = seed});
    double estimate = 0;
    for (const auto& stratum : sample.strata) {
      const auto right = std::ranges::count_if(
          stratum.drawn, [&](const std::array<Hash128, 2>& pair) { return truth.at(pair); });
      estimate += static_cast<double>(stratum.pairs) * static_cast<double>(right) /
                  static_cast<double>(stratum.drawn.size()) / static_cast<double>(edges.size());
    }
    mean += estimate / kSamples;
    error += (estimate - precision) * (estimate - precision) / kSamples;
  }
  const double of_all = precision * (1 - precision) / kCount;  // its variance
  EXPECT_NEAR(mean, precision, 5 * std::sqrt(of_all / kSamples));
  EXPECT_LT(error, of_all);
}

}  // namespace winnow::dedup::sample_test
