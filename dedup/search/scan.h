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

// Near are codes that differ from `words` in at most `radius` bits, and in some bit of each mask in
// `differ` (words_per_code words each).
struct ScanQuery {
  const std::uint64_t* words;
  std::uint32_t radius;
  std::span<const std::uint64_t> differ = {};
};

// Of how many words, the first ones, the distance already tells nearly all pairs of codes to be
// further apart than the radius. `differences`: codes XOR codes of pairs drawn at random,
// words_per_code each; too few to tell: taken for uniform.
std::size_t words_to_compare(std::size_t words_per_code, std::uint32_t radius,
                             std::span<const std::uint64_t> differences = {}) noexcept;

// One way to compare codes, for one instruction set. All give the same.
struct ScanKernel {
  std::string_view name;
  bool (*runs_here)() noexcept;  // this processor has the instructions
  double pair_ns;                // of one core, to compare two words among many; for plans only
  const ScanLoops* loops;

  // Writes to `hits`, ascending, the codes that the query is near to, to `distances` how near, and
  // returns how many they are. Both have room for codes.count.
  std::size_t scan(const CodePlanes& codes, const ScanQuery& query, std::uint32_t* hits,
                   std::uint32_t* distances) const noexcept;
  // Writes to `found`, ascending, some of the queries, all those among them that have a code within
  // `radius`, and returns how many. With `triangle` queries and codes are the same run, and a query
  // is compared with those behind it. `found` has room for queries.count. A few words are quickest.
  std::size_t candidates(const CodePlanes& queries, const CodePlanes& codes, bool triangle,
                         std::uint32_t radius, std::uint32_t* found) const noexcept;
  // Writes to keys[j] the bits of code j that `bits` names (i: bit i % 64, by value, of word
  // i / 64), at most 16, the first of them highest.
  void gather_bits(const CodePlanes& codes, std::span<const std::uint16_t> bits,
                   std::uint16_t* keys) const noexcept;
};

// All that are built, the fastest first; the last one runs on every processor of the architecture.
std::span<const ScanKernel> scan_kernels() noexcept;

// The first that runs on this processor.
const ScanKernel& best_scan_kernel() noexcept;

}  // namespace winnow::dedup
