#pragma once

namespace winnow {

// Vector instruction sets, each including those before it. Code that needs further extensions of
// AVX-512 checks the processor itself.
enum class Simd { kNone, kAvx2, kAvx512 };

// The widest instruction set that loops may use: that of the processor or, if less, of the
// environment variable WINNOW_SIMD (none, avx2, avx512). Results have the same bits with any. Read
// once.
// Errors  UsageError for an unknown name in the variable.
Simd widest_simd();

}  // namespace winnow
