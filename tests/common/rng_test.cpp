#include "common/rng.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace winnow::rng_test {

using Words = std::array<std::uint32_t, 4>;

// Known answers for philox4x32-10, published with the reference code of the paper.
TEST(Rng, PhiloxGivesTheKnownAnswers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(philox4x32({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Rng, AStreamIsPhiloxOfItsKeyAndUse) {
  constexpr std::uint64_t kSeed = 0x1122334455667788;
  constexpr std::uint64_t kId = 0x0003000000000009;
  CounterRng rng(kSeed, 6, kId, RandomUse::kCrop);
  for (std::uint32_t block = 0; block < 3; ++block) {
    const Words want =
        philox4x32({std::uint32_t{2} << 24 | block, 9, 0x00030000, 6}, {0x55667788, 0x11223344});
    for (const std::uint32_t word : want) EXPECT_EQ(rng.next_u32(), word);
  }
}

// A permutation of a large data set draws more than 2^26 numbers from one stream.
TEST(Rng, AStreamDoesNotRepeatAfter2To26Numbers) {
  CounterRng rng(9, 1, 2, RandomUse::kOrder);
  CounterRng again = rng;
  std::uint32_t last = 0;
  for (std::uint32_t i = 0; i < std::uint32_t{1} << 26; ++i) last = rng.next_u32();
  const Words first_block = philox4x32({std::uint32_t{1} << 24 | 0xFFFFFF, 2, 0, 1}, {9, 0});
  EXPECT_EQ(last, first_block[3]) << "the first 2^26 numbers are those of the seed's key";
  const Words key = philox4x32({1, 0, 0, 0}, {9, 0});
  const Words want = philox4x32({std::uint32_t{1} << 24, 2, 0, 1}, {key[0], key[1]});
  for (const std::uint32_t word : want) {
    const std::uint32_t next = rng.next_u32();
    EXPECT_EQ(next, word);
    EXPECT_NE(next, again.next_u32());
  }
}

TEST(Rng, StreamsOfOtherKeysDiffer) {
  std::set<std::uint64_t> first;
  int streams = 0;
  for (std::uint64_t seed : {0ULL, 1ULL, 1ULL << 32}) {
    for (std::uint32_t epoch : {0U, 1U}) {
      for (std::uint64_t id : {0ULL, 1ULL, 1ULL << 48}) {
        for (const RandomUse use : {RandomUse::kOrder, RandomUse::kFlip, RandomUse::kTest}) {
          first.insert(CounterRng(seed, epoch, id, use).next_u64());
          ++streams;
        }
      }
    }
  }
  EXPECT_EQ(first.size(), static_cast<std::size_t>(streams));
}

TEST(Rng, BelowIsUniform) {
  CounterRng rng(7, 0, 0, RandomUse::kTest);
  for (const std::uint32_t bound : {1U, 2U, 3U, 10U, 100U}) {
    std::vector<double> counts(bound);
    const double each = 1000;
    for (int i = 0; i < static_cast<int>(each * bound); ++i) counts.at(rng.below(bound)) += 1;
    double chi_squared = 0;
    for (const double count : counts) chi_squared += (count - each) * (count - each) / each;
    // The mean is bound - 1, the variance twice that; the limit is six standard deviations.
    EXPECT_LE(chi_squared, bound - 1 + 6 * std::sqrt(2.0 * (bound - 1)) + 1e-9) << bound;
  }
  // A bound that does not divide 2^32: plain scaling would give some values twice as often.
  constexpr std::uint32_t kBound = 0xC0000000;
  int low = 0;
  for (int i = 0; i < 30000; ++i) low += rng.below(kBound) < kBound / 3 ? 1 : 0;
  EXPECT_NEAR(low, 10000, 500);
}

TEST(Rng, UniformIsInTheUnitInterval) {
  CounterRng rng(8, 0, 0, RandomUse::kTest);
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < 20000; ++i) {
    const double u = rng.uniform();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u;
    squares += u * u;
  }
  EXPECT_NEAR(sum / 20000, 0.5, 0.015);
  EXPECT_NEAR(squares / 20000, 1.0 / 3, 0.015);
}

}  // namespace winnow::rng_test
