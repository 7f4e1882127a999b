#include <array>

#include "dedup/index/scan.h"
#include "dedup/index/scan_kernels_internal.h"

namespace winnow::dedup {
namespace {

std::size_t scan(const CodePlanes& codes, std::size_t first, std::size_t last,
                 const std::uint64_t* query, std::uint32_t radius, std::uint32_t* hits) noexcept {
  return scan_portable(codes.words, codes.stride, codes.words_per_code, first, last, query, radius,
                       hits);
}

constexpr std::array<ScanKernel, 1> kKernels{{
    {"portable", []() noexcept { return true; }, scan},
}};

}  // namespace

std::span<const ScanKernel> scan_kernels() noexcept { return kKernels; }

}  // namespace winnow::dedup
