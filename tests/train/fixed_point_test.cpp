// Sums of floating-point numbers that no order can change.

#include "train/reduce/fixed_point.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "common/rng.h"

namespace winnow::train {
namespace {

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
    EXPECT_LE(terms * (std::int64_t{1} << bits), std::int64_t{1} << 30) << terms;
    EXPECT_GT(2 * terms * (std::int64_t{1} << bits), std::int64_t{1} << 30) << terms;
    // The largest value below 2^capacity rounds to 2^bits at most.
    for (const std::int32_t capacity : {-60, 0, 7}) {
      const float largest = std::nextafter(std::ldexp(1.0F, capacity), 0.0F);
      ASSERT_TRUE(fits(exponent_of(std::vector{largest}), capacity));
      std::vector<std::int32_t> sum(2, 0);
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
    std::vector<std::int32_t> sum(kCount, 0);
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
  EXPECT_LT(quantum, std::ldexp(1.0, exponent - 22));  // as fine as f32 is for the largest
}

TEST(FixedPoint, CapacityFollowsTheGradients) {
  EXPECT_EQ(next_capacity(3, kNoExponent), 5);
  EXPECT_EQ(next_capacity(9, 5), 11);           // up at once
  EXPECT_EQ(next_capacity(-20, 5), 4);          // down by one a step
  EXPECT_EQ(next_capacity(kNoExponent, 5), 5);  // zeros tell nothing
  EXPECT_EQ(next_capacity(kNoExponent, kNoExponent), kNoExponent);
  EXPECT_TRUE(fits(kNoExponent, kNoExponent));
  EXPECT_FALSE(fits(-100, kNoExponent));
  EXPECT_TRUE(fits(5, 5));
  EXPECT_FALSE(fits(6, 5));
  EXPECT_FALSE(fits(kNotFinite, 127));
}

TEST(FixedPoint, ZerosNeedNoCapacityAndTinyValuesAreNothing) {
  std::vector<std::int32_t> sum(1, 0);
  std::vector<float> value(1, 7.0F);
  add_fixed_point(std::vector{0.0F}, kNoExponent, 25, sum);
  from_fixed_point(sum, kNoExponent, 25, value);
  EXPECT_EQ(value[0], 0.0F);
  const float tiny = 1e-40F;
  const std::int32_t capacity = next_capacity(exponent_of(std::vector{tiny}), kNoExponent);
  add_fixed_point(std::vector{tiny}, capacity, 25, sum);
  from_fixed_point(sum, capacity, 25, value);
  EXPECT_LT(std::abs(value[0]), 1e-33F);
}

}  // namespace
}  // namespace winnow::train
