#pragma once

namespace winnow {

// Vector instruction sets, each including those before it. Loops that need extensions of AVX-512
// check the processor themselves.
enum class Simd { kNone, kAvx2, kAvx512 };

// The widest set that loops may use: the processor's or, if less, that of the environment variable
// WINNOW_SIMD (none, avx2, avx512). Results have the same bits with any. Read once.
// Errors  UsageError for another name.
Simd widest_simd();

}  // namespace winnow
