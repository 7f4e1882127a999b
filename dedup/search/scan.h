#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace winnow::dedup {

struct ScanLoops;

// Codes, borrowed, stored one word after the other: word w of code j is words[w * stride + j].
struct CodePlanes {
  const std::uint64_t* words;
  std::size_t stride;  // >= count
  std::size_t words_per_code;
  std::size_t count;

  CodePlanes part(std::size_t first, std::size_t last) const noexcept {
    return {words + first, stride, words_per_code, last - first};
  }
  CodePlanes first_words(std::size_t number) const noexcept {
    return {words, stride, number, count};
  }
};

// A query of a scan. A code matches if it differs from `words` in at most `radius` bits and, for
// each mask in `differ` (words_per_code words each), in at least one bit of the mask.
struct ScanQuery {
  const std::uint64_t* words;
  std::uint32_t radius;
  std::span<const std::uint64_t> differ = {};
};

// How many leading words of codes suffice to exclude nearly all pairs beyond the radius.
// differences  Differences (XOR) of the codes of random pairs, words_per_code words each. If there
//              are too few, bits are assumed to be independent and uniform.
std::size_t words_to_compare(std::size_t words_per_code, std::uint32_t radius,
                             std::span<const std::uint64_t> differences = {}) noexcept;

// Functions that compare codes, for one instruction set such as AVX2. All kernels give the same
// results.
struct ScanKernel {
  std::string_view name;
  bool (*runs_here)() noexcept;  // whether this processor has the kernel's instructions
  double pair_ns;  // nanoseconds of one core to compare two words, for cost estimates only
  const ScanLoops* loops;

  // Compares all codes with the query. Writes the numbers of matching codes to `hits`, ascending,
  // and their distances in bits to `distances`. Returns how many match. Both arrays have room for
  // codes.count.
  std::size_t scan(const CodePlanes& codes, const ScanQuery& query, std::uint32_t* hits,
                   std::uint32_t* distances) const noexcept;
  // Writes to `found` the numbers of all queries that have a code within `radius` bits, ascending,
  // perhaps with some that have none. Returns how many it wrote. `found` has room for
  // queries.count. Fastest for codes of few words.
  // triangle  Queries and codes are the same array; each query is only compared with later codes.
  std::size_t candidates(const CodePlanes& queries, const CodePlanes& codes, bool triangle,
                         std::uint32_t radius, std::uint32_t* found) const noexcept;
  // Gathers up to 16 bits of each code: keys[j] gets those of code j, the first one as its highest
  // bit.
  // bits  Positions: i is the bit of value 2^(i % 64) in word i / 64.
  void gather_bits(const CodePlanes& codes, std::span<const std::uint16_t> bits,
                   std::uint16_t* keys) const noexcept;
};

// All kernels in this build, fastest first. The last one runs on every processor of the
// architecture.
std::span<const ScanKernel> scan_kernels() noexcept;

// The fastest kernel that runs on this processor.
const ScanKernel& best_scan_kernel() noexcept;

}  // namespace winnow::dedup
