#pragma once

#include <cstddef>
#include <cstdint>

namespace winnow::dedup {

// CodePlanes as a plain struct: scan.h cannot be included, because it includes standard headers
// with inline code.
struct CodeRun {
  const std::uint64_t* words;
  std::size_t stride;
  std::size_t words_per_code;
  std::size_t count;
};

// ScanQuery, likewise.
struct QueryRun {
  const std::uint64_t* words;
  std::uint32_t radius;
  const std::uint64_t* differ;
  std::size_t differ_count;
};

// The loops of a ScanKernel, each compiled for one instruction set.
struct ScanLoops {
  std::size_t (*scan)(const CodeRun& codes, const QueryRun& query, std::uint32_t* hits,
                      std::uint32_t* distances) noexcept;
  std::size_t (*candidates)(const CodeRun& queries, const CodeRun& codes, bool triangle,
                            std::uint32_t radius, std::uint32_t* found) noexcept;
  void (*gather_bits)(const CodeRun& codes, const std::uint16_t* bits, std::size_t width,
                      std::uint16_t* keys) noexcept;
};
extern const ScanLoops kPortableLoops;
extern const ScanLoops kPopcntLoops;  // x86 only, like those below
extern const ScanLoops kAvx2Loops;
extern const ScanLoops kAvx512Loops;

}  // namespace winnow::dedup
