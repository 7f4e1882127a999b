#include <array>

#include "dedup/index/scan.h"
#include "dedup/index/scan_kernels_internal.h"

namespace winnow::dedup {
namespace {

template <ScanLoop* kLoop>
std::size_t scan(const CodePlanes& codes, std::size_t first, std::size_t last,
                 const std::uint64_t* query, std::uint32_t radius, std::uint32_t* hits) noexcept {
  return kLoop(codes.words, codes.stride, codes.words_per_code, first, last, query, radius, hits);
}

constexpr std::array<ScanKernel, 3> kKernels{{
    {"avx512", []() noexcept { return __builtin_cpu_supports("avx512vpopcntdq") != 0; },
     scan<scan_avx512>},
    {"popcnt", []() noexcept { return __builtin_cpu_supports("popcnt") != 0; }, scan<scan_popcnt>},
    {"portable", []() noexcept { return true; }, scan<scan_portable>},
}};

}  // namespace

std::span<const ScanKernel> scan_kernels() noexcept { return kKernels; }

}  // namespace winnow::dedup
