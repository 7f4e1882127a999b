#pragma once

#include <cstdint>
#include <limits>
#include <span>

namespace winnow::train {

// Sums of floating-point numbers that do not depend on the order of addition. They are computed as
// sums of integers.
//
// Method      Each micro-batch's tensor is written as multiples of a power of two, the same one for
//             all micro-batches. The multiples are added as 64-bit integers, and the sum is scaled
//             back.
// Same bits   For any number of ranks and lanes (program replicas), any all-reduce algorithm, and
//             any division into buckets.
// Capacity    Values must be below 2^capacity in magnitude. The capacity follows from the largest
//             values of earlier steps, and determines the power of two. If a value is too large,
//             the step is repeated with a larger capacity.
// Resolution  For V micro-batches, the power of two is 2^-(62 - ceil(log2 V)) of 2^capacity: 2^-52
//             for V = 1,024. While gradients do not shrink, 2^capacity is at most 8 times the
//             largest value. So for V = 1,024, a value of 2^-25 of the largest keeps all 24 bits of
//             its mantissa, and nothing above 2^-49 of the largest becomes zero.

// Returns the smallest e with |v| < 2^e for all `values`; kNoExponent if all are zero, kNotFinite
// if any is NaN or infinite.
inline constexpr std::int32_t kNoExponent = std::numeric_limits<std::int32_t>::min();
inline constexpr std::int32_t kNotFinite = std::numeric_limits<std::int32_t>::max();
std::int32_t exponent_of(std::span<const float> values) noexcept;

// Number of bits b for values below 2^capacity in magnitude: they are written as multiples of
// 2^(capacity - b), so that the sum of `terms` of them fits into 63 bits. b = 62 - ceil(log2
// terms). Requires 1 <= terms <= 2^20.
int fixed_point_bits(std::int64_t terms) noexcept;

// Returns the capacity (exponent of the bound for values) for the next step.
// exponent  Of the largest value of this step, over all micro-batches.
// carried   The previous capacity, or kNoExponent.
// Out       Leaves room for values four times as large. Shrinks by at most 1 a step, because
//           gradients fluctuate.
std::int32_t next_capacity(std::int32_t exponent, std::int32_t carried) noexcept;

// Whether next_capacity() can return this value.
bool is_capacity(std::int32_t capacity) noexcept;

// Whether values with this exponent can be written with this capacity.
bool fits(std::int32_t exponent, std::int32_t capacity) noexcept;

// Adds values as integers: sum[i] += values[i] in multiples of 2^(capacity - bits), rounded to
// nearest, ties to even. The values must fit, see fits().
void add_fixed_point(std::span<const float> values, std::int32_t capacity, int bits,
                     std::span<std::int64_t> sum) noexcept;

// Converts sums of integers back: values[i] = sum[i] * 2^(capacity - bits), rounded to nearest,
// ties to even, first to 53 bits, then to 24.
void from_fixed_point(std::span<const std::int64_t> sum, std::int32_t capacity, int bits,
                      std::span<float> values) noexcept;

}  // namespace winnow::train
