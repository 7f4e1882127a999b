#include "common/simd.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "common/error.h"

namespace winnow {
namespace {

Simd of_processor() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return Simd::kAvx512;
  if (__builtin_cpu_supports("avx2")) return Simd::kAvx2;
#endif
  return Simd::kNone;
}

Simd allowed() {
  const char* const value = std::getenv("WINNOW_SIMD");
  if (value == nullptr) return Simd::kAvx512;
  const std::string_view name = value;
  if (name == "none") return Simd::kNone;
  if (name == "avx2") return Simd::kAvx2;
  if (name == "avx512") return Simd::kAvx512;
  throw UsageError("WINNOW_SIMD is '" + std::string(name) + "'; set it to none, avx2 or avx512");
}

}  // namespace

Simd widest_simd() {
  static const Simd simd = std::min(of_processor(), allowed());
  return simd;
}

}  // namespace winnow
