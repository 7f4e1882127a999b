#pragma once

#include <cstdint>
#include <limits>
#include <span>

namespace winnow::train {

// Floating-point sums depend on the order of their terms; sums of whole numbers do not. A tensor of
// every micro-batch is written as multiples of one power of two, the same for all of them, added
// up, and scaled back: any number of ranks, any schedule and any cut into buckets then give the
// same bits. The power of two comes from the largest values of the steps before; where it turns out
// too fine for a value of this step, the step is done again with a coarser one.

// The smallest e with |v| < 2^e for all `values`; kNoExponent where all are zero, kNotFinite where
// one is NaN or infinite.
inline constexpr std::int32_t kNoExponent = std::numeric_limits<std::int32_t>::min();
inline constexpr std::int32_t kNotFinite = std::numeric_limits<std::int32_t>::max();
std::int32_t exponent_of(std::span<const float> values) noexcept;

// Values below 2^capacity in magnitude are written as multiples of 2^(capacity - bits), so that
// `terms` of them add up within 32 bits: bits = 30 - ceil(log2 terms). Requires 1 <= terms <= 2^20.
int fixed_point_bits(std::int64_t terms) noexcept;

// The capacity to use after a step whose largest value over all micro-batches had `exponent`, when
// the one before was `carried` (kNoExponent: none): room for a growth to four times, shrinking by
// one a step at most, since gradients jitter.
std::int32_t next_capacity(std::int32_t exponent, std::int32_t carried) noexcept;

// True when a value of this exponent can be written at this capacity.
bool fits(std::int32_t exponent, std::int32_t capacity) noexcept;

// sum[i] += values[i] in multiples of 2^(capacity - bits), to nearest. Requires that they fit.
void add_fixed_point(std::span<const float> values, std::int32_t capacity, int bits,
                     std::span<std::int32_t> sum) noexcept;

// values[i] = sum[i] * 2^(capacity - bits).
void from_fixed_point(std::span<const std::int32_t> sum, std::int32_t capacity, int bits,
                      std::span<float> values) noexcept;

}  // namespace winnow::train
