#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace winnow::dedup {

// Borrowed codes, one plane per word: word w of code j is words[w * stride + j].
struct CodePlanes {
  const std::uint64_t* words;
  std::size_t stride;  // >= the number of codes
  std::size_t words_per_code;
};

// One way to compare a code with a run of others, for one instruction set. All give the same hits.
struct ScanKernel {
  std::string_view name;
  bool (*runs_here)() noexcept;  // this processor has the instructions
  // Writes to `hits`, ascending, the j in [first, last) whose code differs from `query`
  // (words_per_code words) in at most `radius` bits, and returns how many they are. `hits` has room
  // for last - first.
  std::size_t (*scan)(const CodePlanes& codes, std::size_t first, std::size_t last,
                      const std::uint64_t* query, std::uint32_t radius,
                      std::uint32_t* hits) noexcept;
};

// All that are built, the fastest first; the last one runs on every processor of the architecture.
std::span<const ScanKernel> scan_kernels() noexcept;

// The first that runs on this processor.
const ScanKernel& best_scan_kernel() noexcept;

}  // namespace winnow::dedup
