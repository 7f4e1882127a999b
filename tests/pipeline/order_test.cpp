#include "pipeline/load/order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "common/error.h"

namespace winnow::pipeline::order_test {

std::vector<std::uint64_t> all_of(const EpochOrder& order, std::uint64_t n) {
  std::vector<std::uint64_t> values(n);
  for (std::uint64_t i = 0; i < n; ++i) values[i] = order[i];
  return values;
}

bool is_permutation_of_range(std::vector<std::uint64_t> values) {
  std::sort(values.begin(), values.end());
  for (std::uint64_t i = 0; i < values.size(); ++i) {
    if (values[i] != i) return false;
  }
  return true;
}

double chi_square(const std::vector<std::uint64_t>& counts) {
  const double total = static_cast<double>(std::accumulate(counts.begin(), counts.end(), 0ULL));
  const double expected = total / static_cast<double>(counts.size());
  double sum = 0;
  for (const std::uint64_t count : counts) {
    const double difference = static_cast<double>(count) - expected;
    sum += difference * difference / expected;
  }
  return sum;
}

// Chi-square of k bins has mean k - 1 and variance 2(k - 1). The bound is five standard deviations:
// a sound order exceeds it once in some hundred thousand tests. All inputs are fixed.
double chi_square_bound(std::size_t bins) {
  const double freedom = static_cast<double>(bins - 1);
  return freedom + 5 * std::sqrt(2 * freedom);
}

TEST(EpochOrder, IsAPermutation) {
  for (std::uint64_t n = 1; n <= 300; ++n) {
    for (const std::uint64_t seed : {0ULL, 1ULL, ~0ULL}) {
      const std::uint32_t epoch = static_cast<std::uint32_t>(n % 7);
      ASSERT_TRUE(is_permutation_of_range(all_of(EpochOrder(n, seed, epoch), n))) << n;
    }
  }
  for (const std::uint64_t power : {1U << 10, 1U << 12, 1U << 15, 1U << 16, 1U << 18}) {
    for (const std::uint64_t n : {power - 1, power, power + 1}) {
      ASSERT_TRUE(is_permutation_of_range(all_of(EpochOrder(n, 7, 3), n))) << n;
    }
  }
}

TEST(EpochOrder, HoldsForTheLargestCounts) {
  for (const std::uint64_t n : {(1ULL << 62) + 1, 1ULL << 63, ~0ULL}) {
    const EpochOrder order(n, 11, 2);
    std::set<std::uint64_t> seen;
    for (std::uint64_t i = 0; i < 1000; ++i) {
      for (const std::uint64_t index : {i, n - 1 - i}) {
        ASSERT_LT(order[index], n);
        ASSERT_TRUE(seen.insert(order[index]).second);
      }
    }
  }
}

TEST(EpochOrder, HasAnInverse) {
  for (const std::uint64_t n : {1ULL, 2ULL, 63ULL, 64ULL, 65ULL, 1000ULL, 70'000ULL}) {
    const EpochOrder order(n, 7, 3, RandomUse::kTest, 5);
    for (std::uint64_t i = 0; i < n; i += 1 + n / 300) ASSERT_EQ(order.index_of(order[i]), i);
  }
  const EpochOrder largest(~0ULL, 11, 2);
  for (const std::uint64_t i : {0ULL, 12345ULL, ~0ULL - 1}) {
    EXPECT_EQ(largest.index_of(largest[i]), i);
  }
}

TEST(EpochOrder, IsAFunctionOfSeedAndEpoch) {
  const std::uint64_t n = 1000;
  const auto base = all_of(EpochOrder(n, 5, 9), n);
  EXPECT_EQ(base, all_of(EpochOrder(n, 5, 9), n));
  const std::uint64_t high_bit = 5 + (1ULL << 40);
  for (const auto& other : {EpochOrder(n, 5, 10), EpochOrder(n, 6, 9), EpochOrder(n, 9, 5),
                            EpochOrder(n, high_bit, 9)}) {
    const auto values = all_of(other, n);
    std::uint64_t same = 0;
    for (std::uint64_t i = 0; i < n; ++i) same += values[i] == base[i] ? 1 : 0;
    EXPECT_LE(same, 10U);  // unrelated permutations share one on average
  }
}

// The order of a seed is part of every recorded run. The values come from a second implementation
// of the same definition, in Python.
TEST(EpochOrder, KeepsItsValues) {
  using testing::ElementsAre;
  EXPECT_THAT(all_of(EpochOrder(10, 1, 0), 10), ElementsAre(1, 2, 5, 9, 0, 8, 4, 6, 7, 3));
  EXPECT_THAT(all_of(EpochOrder(10, 1, 1), 10), ElementsAre(2, 7, 4, 3, 0, 8, 6, 5, 1, 9));
  const EpochOrder large(1281167, 1234567890123, 90);
  EXPECT_THAT((std::vector{large[0], large[1], large[2], large[3], large[4], large[5]}),
              ElementsAre(101472, 271257, 1048813, 451526, 1281132, 581986));
}

TEST(EpochOrder, PutsEverySampleEverywhereEquallyOften) {
  const std::uint64_t n = 50;
  for (const std::uint64_t index : {0, 1, 24, 49}) {
    std::vector<std::uint64_t> over_seeds(n);
    std::vector<std::uint64_t> over_epochs(n);
    for (std::uint32_t i = 0; i < 20000; ++i) {
      ++over_seeds[EpochOrder(n, i, 0)[index]];
      ++over_epochs[EpochOrder(n, 3, i)[index]];
    }
    EXPECT_LT(chi_square(over_seeds), chi_square_bound(n)) << index;
    EXPECT_LT(chi_square(over_epochs), chi_square_bound(n)) << index;
  }
}

TEST(EpochOrder, ReachesEveryPermutationOfFewSamples) {
  for (const auto& [n, permutations] :
       std::map<std::uint64_t, std::size_t>{{2, 2}, {3, 6}, {4, 24}, {5, 120}, {6, 720}}) {
    std::map<std::vector<std::uint64_t>, std::uint64_t> counts;
    for (std::uint64_t seed = 0; seed < 40 * permutations; ++seed) {
      ++counts[all_of(EpochOrder(n, seed, 0), n)];
    }
    ASSERT_EQ(counts.size(), permutations) << n;
    std::vector<std::uint64_t> values;
    for (const auto& [order, count] : counts) values.push_back(count);
    EXPECT_LT(chi_square(values), chi_square_bound(permutations)) << n;
  }
}

TEST(EpochOrder, SeparatesNeighbours) {
  // A random permutation keeps 2(n-1)/n neighbours adjacent on average, with a Poisson
  // distribution.
  const std::uint64_t n = 10000;
  const int epochs = 200;
  std::uint64_t together = 0;
  double displacement = 0;
  for (std::uint32_t epoch = 0; epoch < epochs; ++epoch) {
    const auto values = all_of(EpochOrder(n, 1, epoch), n);
    for (std::uint64_t i = 0; i < n; ++i) {
      displacement += std::abs(static_cast<double>(values[i]) - static_cast<double>(i));
      if (i == 0) continue;
      const std::uint64_t low = std::min(values[i - 1], values[i]);
      together += std::max(values[i - 1], values[i]) - low == 1 ? 1 : 0;
    }
  }
  EXPECT_NEAR(static_cast<double>(together) / epochs, 2.0, 5 * std::sqrt(2.0 / epochs));
  EXPECT_NEAR(displacement / epochs / static_cast<double>(n), static_cast<double>(n) / 3, 20);
}

TEST(EpochOrder, RefusesNothing) { EXPECT_THROW(EpochOrder(0, 1, 0), UsageError); }

TEST(Stream, IsTheConcatenationOfEpochs) {
  for (const std::uint64_t n : {1ULL, 2ULL, 7ULL, 64ULL}) {
    std::vector<StreamSample> want;
    for (std::uint32_t epoch = 0; epoch < 6; ++epoch) {
      const EpochOrder order(n, 42, epoch);
      for (std::uint64_t i = 0; i < n; ++i) want.push_back({epoch, order[i]});
    }
    for (std::uint64_t begin = 0; begin < want.size(); begin += 1 + n / 5) {
      for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{1}, n, 3 * n + 1}) {
        if (begin + count > want.size()) continue;
        const auto got = stream(n, 42, begin, count);
        ASSERT_EQ(got.size(), count);
        for (std::uint64_t i = 0; i < count; ++i) {
          ASSERT_EQ(got[i].epoch, want[begin + i].epoch);
          ASSERT_EQ(got[i].index, want[begin + i].index);
        }
      }
    }
  }
  EXPECT_THROW(stream(0, 1, 0, 1), UsageError);
}

TEST(Share, CutsIntoRunsThatDifferByAtMostOne) {
  for (std::int64_t parts = 0; parts <= 40; ++parts) {
    for (int ranks = 1; ranks <= 17; ++ranks) {
      std::int64_t at = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const auto [first, second] = share(parts, rank, ranks);
        EXPECT_EQ(first, at);
        EXPECT_EQ(first, rank * parts / ranks);
        EXPECT_GE(second - first, parts / ranks);
        EXPECT_LE(second - first, (parts + ranks - 1) / ranks);
        at = second;
      }
      EXPECT_EQ(at, parts);
    }
  }
}

TEST(Share, DoesNotOverflow) {
  const std::int64_t parts = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(share(parts, 0, 1000).first, 0);
  EXPECT_EQ(share(parts, 999, 1000).second, parts);
  EXPECT_EQ(share(parts, 1, 2), std::pair(parts / 2, parts));
}

TEST(Share, RefusesRanksThatAreNot) {
  EXPECT_THROW(share(10, 2, 2), UsageError);
  EXPECT_THROW(share(10, -1, 2), UsageError);
  EXPECT_THROW(share(10, 0, 0), UsageError);
  EXPECT_THROW(share(-1, 0, 1), UsageError);
}

TEST(VariantAt, EachIsSeenOnceInABlockOfEpochs) {
  for (const int variants : {1, 2, 3, 10}) {
    for (SampleId id = 0; id < 50; ++id) {
      for (std::uint32_t block = 0; block < 4; ++block) {
        std::set<int> seen;
        for (int k = 0; k < variants; ++k) {
          const auto epoch =
              block * static_cast<std::uint32_t>(variants) + static_cast<std::uint32_t>(k);
          const int variant = variant_at(7, epoch, id, variants);
          EXPECT_EQ(variant_at(7, epoch, id, variants), variant);
          EXPECT_TRUE(variant >= 0 && variant < variants);
          seen.insert(variant);
        }
        EXPECT_EQ(seen.size(), static_cast<std::size_t>(variants));
      }
    }
  }
}

TEST(VariantAt, OrdersDifferByIdBlockAndSeed) {
  const auto order = [](std::uint64_t seed, std::uint32_t block, SampleId id) {
    std::vector<int> variants(5);
    for (std::uint32_t k = 0; k < 5; ++k) variants[k] = variant_at(seed, 5 * block + k, id, 5);
    return variants;
  };
  std::map<std::vector<int>, std::uint64_t> by_id;
  std::map<std::vector<int>, std::uint64_t> by_block;
  std::map<std::vector<int>, std::uint64_t> by_seed;
  for (std::uint32_t i = 0; i < 12'000; ++i) {
    ++by_id[order(1, 0, i)];
    ++by_block[order(1, i, 3)];
    ++by_seed[order(i, 0, 3)];
  }
  for (const auto& orders : {by_id, by_block, by_seed}) {
    ASSERT_EQ(orders.size(), 120U);  // all 120 orders occur
    std::vector<std::uint64_t> counts;
    for (const auto& [one, count] : orders) counts.push_back(count);
    // 119 degrees of freedom: the standard deviation is 15.4, and the bound is five of them.
    EXPECT_LT(chi_square(counts), 119 + 5 * 15.4);
  }
}

TEST(VariantAt, WhatASeedMeansStays) {
  std::vector<int> seen;
  for (std::uint32_t epoch = 0; epoch < 8; ++epoch) seen.push_back(variant_at(1, epoch, 42, 4));
  EXPECT_THAT(seen, testing::ElementsAre(2, 0, 1, 3, 1, 2, 0, 3));
}

}  // namespace winnow::pipeline::order_test
