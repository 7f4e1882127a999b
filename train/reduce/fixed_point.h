#pragma once

#include <cstdint>
#include <limits>
#include <span>

namespace winnow::train {

// Sums of floating-point numbers that no order can change, as sums of whole numbers.
//
// Method      Each micro-batch writes a tensor as multiples of one power of two, the same for all
//             micro-batches. The multiples are added up as 64-bit integers and scaled back.
// Same bits   for any number of ranks and lanes, any schedule and any cut into buckets.
// Scale       The power of two follows from the largest values of the steps before. A value that is
//             too large for it makes the step run again with a larger one.
// Resolution  Of V micro-batches, 2^-(62 - ceil(log2 V)) of the capacity: at V = 1,024, 2^-52. The
//             capacity is at most 8 times the largest value while gradients do not shrink. So at
//             V = 1,024 a value of 2^-25 of the largest keeps all 24 bits of its mantissa, and
//             nothing above 2^-49 of the largest becomes zero.

// The smallest e with |v| < 2^e for all `values`; kNoExponent where all are zero, kNotFinite where
// one is NaN or infinite.
inline constexpr std::int32_t kNoExponent = std::numeric_limits<std::int32_t>::min();
inline constexpr std::int32_t kNotFinite = std::numeric_limits<std::int32_t>::max();
std::int32_t exponent_of(std::span<const float> values) noexcept;

// Values below 2^capacity in magnitude are written as multiples of 2^(capacity - bits), so that
// `terms` of them add up within 63 bits: bits = 62 - ceil(log2 terms). Requires 1 <= terms <= 2^20.
int fixed_point_bits(std::int64_t terms) noexcept;

// The capacity for the next step.
// In   `exponent`: of the largest value of this step, over all micro-batches. `carried`: the
//      capacity before, or kNoExponent.
// Out  Room for values four times as large. It shrinks by one a step at most, for gradients jitter.
std::int32_t next_capacity(std::int32_t exponent, std::int32_t carried) noexcept;

// Whether next_capacity() ever gives this.
bool is_capacity(std::int32_t capacity) noexcept;

// Whether a value of this exponent can be written at this capacity.
bool fits(std::int32_t exponent, std::int32_t capacity) noexcept;

// sum[i] += values[i] in multiples of 2^(capacity - bits), rounded to nearest, ties to even.
// Requires that the values fit.
void add_fixed_point(std::span<const float> values, std::int32_t capacity, int bits,
                     std::span<std::int64_t> sum) noexcept;

// values[i] = sum[i] * 2^(capacity - bits), rounded to nearest, ties to even: once to 53 bits, then
// to 24.
void from_fixed_point(std::span<const std::int64_t> sum, std::int32_t capacity, int bits,
                      std::span<float> values) noexcept;

}  // namespace winnow::train
