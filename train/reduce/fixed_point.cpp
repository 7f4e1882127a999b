#include "train/reduce/fixed_point.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace winnow::train {
namespace {

constexpr std::int32_t kMargin = 2;
constexpr std::int32_t kLeastExponent = -148;  // exponent of the smallest positive float
constexpr std::int32_t kGreatestExponent = 128;

// Adding this to a double of smaller magnitude rounds it to a multiple of 2^exponent, ties to even.
// The multiple is then the difference of the two bit patterns as integers.
constexpr double rounder(int exponent) {
  return std::bit_cast<double>((std::uint64_t{0x3FF} + 52 + static_cast<std::uint64_t>(exponent))
                                   << 52 |
                               std::uint64_t{1} << 51);
}

// Rounders to multiples of 2^32 and of 1, for |value| < 2^(exponent + 51).
constexpr int kHighBits = 32;
constexpr double kHigh = rounder(kHighBits);
constexpr double kLow = rounder(0);

// `value` rounded to the nearest integer, ties to even; |value| <= 2^62. Computed in two halves,
// because SSE2 has no conversion to 64-bit integers: every step below is one of its vector
// instructions.
std::int64_t nearest(double value) noexcept {
  const double high = value + kHigh;
  const double low = (value - (high - kHigh)) + kLow;  // the difference is exact
  const auto bits = [](double v) { return std::bit_cast<std::uint64_t>(v); };
  return static_cast<std::int64_t>(((bits(high) - bits(kHigh)) << kHighBits) +
                                   (bits(low) - bits(kLow)));
}

}  // namespace

std::int32_t exponent_of(std::span<const float> values) noexcept {
  // Without the sign, floats are ordered like their bits, with NaN above infinity.
  std::uint32_t largest = 0;
  for (const float v : values) {
    largest = std::max(largest, std::bit_cast<std::uint32_t>(v) & 0x7FFF'FFFFU);
  }
  if (largest >= 0x7F80'0000U) return kNotFinite;
  if (largest == 0) return kNoExponent;
  int exponent = 0;
  std::frexp(std::bit_cast<float>(largest), &exponent);
  return exponent;
}

int fixed_point_bits(std::int64_t terms) noexcept {
  return 62 - static_cast<int>(std::bit_width(static_cast<std::uint64_t>(terms - 1)));
}

std::int32_t next_capacity(std::int32_t exponent, std::int32_t carried) noexcept {
  const std::int32_t kept = carried == kNoExponent ? kNoExponent : carried - 1;
  return exponent == kNoExponent ? carried : std::max(exponent + kMargin, kept);
}

bool is_capacity(std::int32_t capacity) noexcept {
  return kLeastExponent + kMargin <= capacity && capacity <= kGreatestExponent + kMargin;
}

bool fits(std::int32_t exponent, std::int32_t capacity) noexcept {
  return exponent == kNoExponent || (capacity != kNoExponent && exponent <= capacity);
}

void add_fixed_point(std::span<const float> values, std::int32_t capacity, int bits,
                     std::span<std::int64_t> sum) noexcept {
  if (capacity == kNoExponent) return;  // all are zero
  const double scale = std::ldexp(1.0, bits - capacity);
  // The product is exact: the factor is a power of two, far from the limits of a double's range.
  for (std::size_t i = 0; i < values.size(); ++i) sum[i] += nearest(double{values[i]} * scale);
}

void from_fixed_point(std::span<const std::int64_t> sum, std::int32_t capacity, int bits,
                      std::span<float> values) noexcept {
  const double scale = capacity == kNoExponent ? 0.0 : std::ldexp(1.0, capacity - bits);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(static_cast<double>(sum[i]) * scale);
  }
}

}  // namespace winnow::train
