#include <array>

#include "dedup/search/scan.h"
#include "dedup/search/scan_kernels_internal.h"

namespace winnow::dedup {
namespace {

bool has_avx512() noexcept {
  return __builtin_cpu_supports("avx512vpopcntdq") != 0 &&
         __builtin_cpu_supports("avx512bitalg") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
}

constexpr std::array<ScanKernel, 4> kKernels{{
    {"avx512", has_avx512, 0.035, &kAvx512Loops},
    {"avx2",
     []() noexcept {
       return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("popcnt") != 0;
     },
     0.2, &kAvx2Loops},
    {"popcnt", []() noexcept { return __builtin_cpu_supports("popcnt") != 0; }, 0.3, &kPopcntLoops},
    {"portable", []() noexcept { return true; }, 0.9, &kPortableLoops},
}};

}  // namespace

std::span<const ScanKernel> scan_kernels() noexcept { return kKernels; }

}  // namespace winnow::dedup
