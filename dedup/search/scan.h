#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace winnow::dedup {

struct ScanLoops;

// Borrowed codes, one plane per word: word w of code j is words[w * stride + j].
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

// A query: codes match that differ from `words` in at most `radius` bits, and in at least one bit
// of each mask in `differ` (words_per_code words each).
struct ScanQuery {
  const std::uint64_t* words;
  std::uint32_t radius;
  std::span<const std::uint64_t> differ = {};
};

// Number of leading words whose distance already excludes nearly all pairs of codes.
// differences  Codes XOR codes of random pairs, words_per_code each; if too few, uniform codes are
//              assumed.
std::size_t words_to_compare(std::size_t words_per_code, std::uint32_t radius,
                             std::span<const std::uint64_t> differences = {}) noexcept;

// Code comparison for one instruction set. All kernels give the same results.
struct ScanKernel {
  std::string_view name;
  bool (*runs_here)() noexcept;  // whether this processor has the instructions
  double pair_ns;                // time of one core to compare two words among many; for plans only
  const ScanLoops* loops;

  // Writes the matching codes to `hits`, ascending, and their distances to `distances`. Returns
  // their number. Both have room for codes.count.
  std::size_t scan(const CodePlanes& codes, const ScanQuery& query, std::uint32_t* hits,
                   std::uint32_t* distances) const noexcept;
  // Writes to `found`, ascending, all queries that have a code within `radius`, perhaps with
  // others, and returns their number.
  // triangle  Queries and codes are the same; a query is compared with those after it.
  // `found` has room for queries.count. Fastest with few words.
  std::size_t candidates(const CodePlanes& queries, const CodePlanes& codes, bool triangle,
                         std::uint32_t radius, std::uint32_t* found) const noexcept;
  // Writes to keys[j] the bits of code j that `bits` names (i: bit i % 64, by value, of word i /
  // 64). At most 16 bits, the first one highest.
  void gather_bits(const CodePlanes& codes, std::span<const std::uint16_t> bits,
                   std::uint16_t* keys) const noexcept;
};

// All built kernels, fastest first. The last one runs on every processor of the architecture.
std::span<const ScanKernel> scan_kernels() noexcept;

// The first that runs on this processor.
const ScanKernel& best_scan_kernel() noexcept;

}  // namespace winnow::dedup
