#include <array>

#include "dedup/search/scan.h"
#include "dedup/search/scan_kernels_internal.h"

namespace winnow::dedup {
namespace {

constexpr std::array<ScanKernel, 1> kKernels{{
    {"portable", []() noexcept { return true; }, 0.5, &kPortableLoops},
}};

}  // namespace

std::span<const ScanKernel> scan_kernels() noexcept { return kKernels; }

}  // namespace winnow::dedup
