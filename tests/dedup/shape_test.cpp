// Components whose furthest pair is searched in parallel.

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "dedup/cluster/cluster.h"
#include "tests/dedup/tables.h"

namespace winnow::dedup::shape_test {

// Each code differs in a few bits from the one before.
CodeColumn random_walk(std::size_t count, int words, std::uint32_t flips, std::uint32_t over_bits) {
  CounterRng rng = test_rng(count);
  CodeColumn codes{"test", 1, 64 * words, {}};
  std::vector<std::uint64_t> code(static_cast<std::size_t>(words));
  for (std::size_t i = 0; i < count; ++i) {
    for (std::uint32_t f = 0; f < flips; ++f) {
      const std::uint32_t bit = rng.below(over_bits);
      code[bit / 64] ^= std::uint64_t{1} << bit % 64;
    }
    codes.words.insert(codes.words.end(), code.begin(), code.end());
  }
  return codes;
}

std::vector<std::uint32_t> all_rows(std::size_t count) {
  std::vector<std::uint32_t> rows(count);
  std::iota(rows.begin(), rows.end(), std::uint32_t{0});
  return rows;
}

TEST(ShapeOfMany, IsTheFurthestPair) {
  constexpr std::size_t kCodes = 5000;
  for (const CodeColumn& codes : {random_walk(kCodes, 1, 3, 64), random_walk(kCodes, 1, 1, 20),
                                  random_walk(kCodes, 4, 9, 256), random_walk(kCodes, 4, 2, 90)}) {
    std::uint32_t furthest = 0;
    for (std::uint32_t a = 0; a < kCodes; ++a) {
      for (std::uint32_t b = 0; b < a; ++b) {
        furthest =
            std::max(furthest, static_cast<std::uint32_t>(hamming(codes.code(a), codes.code(b))));
      }
    }
    EXPECT_EQ(shape_of(codes, all_rows(kCodes), 3).diameter, furthest);
  }
}

// Comparing all pairs would take minutes.
TEST(ShapeOfMany, SurvivesAChainOfHalfAMillion) {
  constexpr std::size_t kCodes = 500'000;
  const CodeColumn codes = random_walk(kCodes, 1, 3, 64);
  const GroupShape shape = shape_of(codes, all_rows(kCodes), 3);
  EXPECT_TRUE(shape.chain);
  EXPECT_GE(shape.diameter, 56U);
}

}  // namespace winnow::dedup::shape_test
