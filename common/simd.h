#pragma once

namespace winnow {

// Vector instructions, each with those before it. Of AVX-512, what loops need of its extensions
// they ask the processor for themselves.
enum class Simd { kNone, kAvx2, kAvx512 };

// The widest that loops may use: what the processor has or, if that is less, what the environment
// variable WINNOW_SIMD names (none, avx2, avx512). Results are the same bits with any. Read once.
// Throws UsageError for another name.
Simd widest_simd();

}  // namespace winnow
