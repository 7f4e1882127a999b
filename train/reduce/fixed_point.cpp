#include "train/reduce/fixed_point.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace winnow::train {
namespace {

constexpr std::int32_t kMargin = 2;

// A scale of 2^shift is a float; gradients below 2^-100 are nothing.
constexpr std::int32_t kLeastCapacity = -90;

std::int32_t shift_of(std::int32_t capacity, int bits) noexcept {
  return bits - std::max(capacity, kLeastCapacity);
}

}  // namespace

std::int32_t exponent_of(std::span<const float> values) noexcept {
  // Without their sign, floats are ordered as their bits are, NaN above infinity.
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
  return 30 - static_cast<int>(std::bit_width(static_cast<std::uint64_t>(terms - 1)));
}

std::int32_t next_capacity(std::int32_t exponent, std::int32_t carried) noexcept {
  const std::int32_t kept = carried == kNoExponent ? kNoExponent : carried - 1;
  return exponent == kNoExponent ? carried : std::max(exponent + kMargin, kept);
}

bool fits(std::int32_t exponent, std::int32_t capacity) noexcept {
  return exponent == kNoExponent ||
         (capacity != kNoExponent && exponent <= std::max(capacity, kLeastCapacity));
}

void add_fixed_point(std::span<const float> values, std::int32_t capacity, int bits,
                     std::span<std::int32_t> sum) noexcept {
  if (capacity == kNoExponent) return;  // all are zero
  const float scale = std::ldexp(1.0F, shift_of(capacity, bits));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float scaled = values[i] * scale;  // exact: a power of two
    sum[i] += static_cast<std::int32_t>(scaled + std::copysign(0.5F, scaled));
  }
}

void from_fixed_point(std::span<const std::int32_t> sum, std::int32_t capacity, int bits,
                      std::span<float> values) noexcept {
  const double scale = capacity == kNoExponent ? 0.0 : std::ldexp(1.0, -shift_of(capacity, bits));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(sum[i] * scale);
  }
}

}  // namespace winnow::train
