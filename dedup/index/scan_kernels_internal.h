#pragma once

#include <cstddef>
#include <cstdint>

namespace winnow::dedup {

// ScanKernel::scan, its CodePlanes spelt out, built for one instruction set each.
using ScanLoop = std::size_t(const std::uint64_t* codes, std::size_t stride, std::size_t words,
                             std::size_t first, std::size_t last, const std::uint64_t* query,
                             std::uint32_t radius, std::uint32_t* hits) noexcept;
ScanLoop scan_portable;
ScanLoop scan_popcnt;  // x86 only, as are those below
ScanLoop scan_avx512;

}  // namespace winnow::dedup
