// Sums of floating-point numbers that do not depend on the order.

#include "train/reduce/fixed_point.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "common/rng.h"

namespace winnow::train::fixed_point_test {

TEST(FixedPoint, ExponentBoundsTheLargestMagnitude) {
  const auto exponent = [](std::vector<float> values) { return exponent_of(values); };
  EXPECT_EQ(exponent({}), kNoExponent);
  EXPECT_EQ(exponent({0.0F, -0.0F}), kNoExponent);
  EXPECT_EQ(exponent({1.0F}), 1);
  EXPECT_EQ(exponent({0.75F, -1.99F}), 1);
  EXPECT_EQ(exponent({-0.5F, 0.25F}), 0);
  EXPECT_EQ(exponent({std::numeric_limits<float>::denorm_min()}), -148);
  EXPECT_EQ(exponent({std::numeric_limits<float>::max()}), 128);
  EXPECT_EQ(exponent({1.0F, std::numeric_limits<float>::infinity()}), kNotFinite);
  EXPECT_EQ(exponent({std::nanf(""), 1.0F}), kNotFinite);
}

TEST(FixedPoint, TermsThatFitNeverOverflowTheSum) {
  for (const std::int64_t terms : {1, 2, 3, 24, 64, 1000, 1 << 20}) {
    const int bits = fixed_point_bits(terms);
    EXPECT_LE(terms, std::int64_t{1} << (62 - bits)) << terms;
    EXPECT_GT(2 * terms, std::int64_t{1} << (62 - bits)) << terms;
    // The largest value below 2^capacity rounds to 2^bits at most.
    for (const std::int32_t capacity : {-60, 0, 7}) {
      const float largest = std::nextafter(std::ldexp(1.0F, capacity), 0.0F);
      ASSERT_TRUE(fits(exponent_of(std::vector{largest}), capacity));
      std::vector<std::int64_t> sum(2, 0);
      add_fixed_point(std::vector{largest, -largest}, capacity, bits, sum);
      EXPECT_LE(sum[0], std::int64_t{1} << bits);
      EXPECT_EQ(sum[1], -sum[0]);
    }
  }
}

TEST(FixedPoint, SumsAreNearTheExactOnesInEveryOrder) {
  constexpr int kTerms = 24;
  constexpr std::size_t kCount = 1000;
  CounterRng rng(1, 0, 0, RandomUse::kTest);
  std::vector<std::vector<float>> terms(kTerms, std::vector<float>(kCount));
  std::vector<double> exact(kCount, 0.0);
  std::int32_t exponent = kNoExponent;
  for (auto& term : terms) {
    for (std::size_t i = 0; i < kCount; ++i) {
      term[i] = static_cast<float>((rng.uniform() - 0.5) * std::exp2(10.0 * rng.uniform() - 20));
      exact[i] += term[i];
    }
    exponent = std::max(exponent, exponent_of(term));
  }
  const int bits = fixed_point_bits(kTerms);
  const std::int32_t capacity = next_capacity(exponent, kNoExponent);
  ASSERT_TRUE(fits(exponent, capacity));
  const auto sum_in = [&](bool backwards) {
    std::vector<std::int64_t> sum(kCount, 0);
    for (int t = 0; t < kTerms; ++t) {
      add_fixed_point(terms[static_cast<std::size_t>(backwards ? kTerms - 1 - t : t)], capacity,
                      bits, sum);
    }
    std::vector<float> values(kCount);
    from_fixed_point(sum, capacity, bits, values);
    return values;
  };
  const std::vector<float> forward = sum_in(false);
  EXPECT_EQ(forward, sum_in(true));
  const double quantum = std::ldexp(1.0, capacity - bits);
  for (std::size_t i = 0; i < kCount; ++i) {
    EXPECT_NEAR(forward[i], exact[i], kTerms * quantum / 2 + std::abs(exact[i]) * 1e-7);
  }
  EXPECT_LT(quantum, std::ldexp(1.0, exponent - 54));
}

TEST(FixedPoint, CapacityFollowsTheGradients) {
  EXPECT_EQ(next_capacity(3, kNoExponent), 5);
  EXPECT_EQ(next_capacity(9, 5), 11);           // up at once
  EXPECT_EQ(next_capacity(-20, 5), 4);          // down by one per step
  EXPECT_EQ(next_capacity(kNoExponent, 5), 5);  // zeros carry no information
  EXPECT_EQ(next_capacity(kNoExponent, kNoExponent), kNoExponent);
  EXPECT_TRUE(fits(kNoExponent, kNoExponent));
  EXPECT_FALSE(fits(-100, kNoExponent));
  EXPECT_TRUE(fits(5, 5));
  EXPECT_FALSE(fits(6, 5));
  EXPECT_FALSE(fits(kNotFinite, 127));
}

TEST(FixedPoint, ZerosNeedNoCapacityAndTheSmallestFloatsAreKept) {
  std::vector<std::int64_t> sum(1, 0);
  std::vector<float> value(1, 7.0F);
  add_fixed_point(std::vector{0.0F}, kNoExponent, 25, sum);
  from_fixed_point(sum, kNoExponent, 25, value);
  EXPECT_EQ(value[0], 0.0F);
  for (const float tiny : {1e-40F, std::numeric_limits<float>::denorm_min()}) {
    const std::int32_t capacity = next_capacity(exponent_of(std::vector{tiny}), kNoExponent);
    EXPECT_TRUE(is_capacity(capacity));
    sum[0] = 0;
    add_fixed_point(std::vector{tiny}, capacity, 52, sum);
    from_fixed_point(sum, capacity, 52, value);
    EXPECT_EQ(value[0], tiny);
  }
  EXPECT_TRUE(is_capacity(next_capacity(128, kNoExponent)));
  EXPECT_FALSE(is_capacity(kNoExponent));
  EXPECT_FALSE(is_capacity(kNotFinite));
  EXPECT_FALSE(is_capacity(131));
}

// `value` rounded to an integer.
std::int64_t rounded(float value) {
  constexpr int kBits = 62;
  std::vector<std::int64_t> sum(1, 0);
  add_fixed_point(std::vector{value}, kBits, kBits, sum);
  return sum[0];
}

TEST(FixedPoint, RoundsToTheNearestAndTiesToEven) {
  // The largest float below one half: adding a half to it in float gives 1.
  EXPECT_EQ(rounded(0.49999997F), 0);
  EXPECT_EQ(rounded(-0.49999997F), 0);
  // From 2^23 on all floats are integers, and adding a half to an odd one gives the next.
  EXPECT_EQ(rounded(8'388'609.0F), 8'388'609);
  EXPECT_EQ(rounded(-8'388'611.0F), -8'388'611);
  EXPECT_EQ(rounded(16'777'215.0F), 16'777'215);
  EXPECT_EQ(rounded(0x1p61F), std::int64_t{1} << 61);
  EXPECT_EQ(rounded(-0x1.fffffep61F), -(((std::int64_t{1} << 24) - 1) << 38));
  for (const float tie : {0.5F, 1.5F, 2.5F, 3.5F, 4'194'304.5F, 4'194'305.5F}) {
    for (const float value : {tie, -tie, std::nextafter(tie, 0.0F), std::nextafter(tie, 9e9F)}) {
      EXPECT_EQ(rounded(value), std::llrint(double{value})) << value;
    }
  }
  CounterRng rng(2, 0, 0, RandomUse::kTest);
  for (int i = 0; i < 100'000; ++i) {
    const auto value =
        static_cast<float>((rng.uniform() - 0.5) * std::exp2(63.0 * rng.uniform() - 1));
    ASSERT_EQ(rounded(value), std::llrint(double{value})) << value;
  }
}

// The claims of fixed_point.h about 1,024 micro-batches.
TEST(FixedPoint, ResolutionOfAThousandMicroBatches) {
  constexpr int kTerms = 1024;
  const int bits = fixed_point_bits(kTerms);
  EXPECT_EQ(bits, 52);
  for (const float largest : {1.0F, 1.999999F, 3e-5F}) {
    const std::int32_t capacity = next_capacity(exponent_of(std::vector{largest}), kNoExponent);
    const auto read_back = [&](float value) {
      std::vector<std::int64_t> sum(1, 0);
      for (int i = 0; i < kTerms; ++i) add_fixed_point(std::vector{value}, capacity, bits, sum);
      std::vector<float> sums(1);
      from_fixed_point(sum, capacity, bits, sums);
      return sums[0];
    };
    // A value 2^-25 times the largest keeps its mantissa in each micro-batch.
    for (const float mantissa : {1.0F, 1.9999999F, 1.2345678F}) {
      const float small = mantissa * std::ldexp(largest, -25);
      EXPECT_EQ(read_back(small), small * kTerms);
    }
    // 32-bit sums had 18 bits left and lost everything below 2^-17. Here 2^-49 is still present.
    EXPECT_GT(read_back(std::ldexp(largest, -49)), 0.0F);
    EXPECT_EQ(read_back(largest), largest * kTerms);
  }
}

}  // namespace winnow::train::fixed_point_test
