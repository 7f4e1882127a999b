#pragma once

#include <cstdint>
#include <limits>

#include "tools/flags/flags.h"
#include "train/optim/options.h"

namespace winnow::tools {

// Checks numbers in options, in one place. A number must be finite and within the range that the
// help shows. Anything else is refused with that range; nothing is rounded or clipped.

// Largest value of counts that are an int.
inline constexpr std::int64_t kMostCount = std::numeric_limits<std::int32_t>::max();
inline constexpr std::int64_t kMostCores = 8192;
inline constexpr std::int64_t kMostMib = std::int64_t{1} << 30;
inline constexpr std::int64_t kMostBatch = std::int64_t{1} << 30;
inline constexpr std::int64_t kMostBits = 1 << 20;  // for thresholds; hashes have fewer bits
inline constexpr double kMostRisk = 1e18;           // for expected numbers of false pairs
inline constexpr double kMostSeconds = 1e7;
using train::kMostEpochs;

// Accepts whole numbers in [least, most], written as in C: decimal, hexadecimal with 0x, or octal
// with a leading 0, so 010 is
// 8. Separators, as in 1_000 or 1'000, are refused.
Check whole_in(std::int64_t least, std::int64_t most);
// Accepts any 64-bit number, for random seeds.
Check seeds();
// Accepts a number of CPU cores: 0 (all available) to kMostCores.
Check cores();

// Accept real numbers. Those between 0 and 1 may also be percentages: 10% is 0.1.
Check real_in(double least, double most);
Check real_above(double least, double most);  // `least` itself is excluded
Check real_in(const train::Range& range);

}  // namespace winnow::tools
