#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dedup/fingerprints.h"

namespace winnow::dedup {

// Rows a < b of a table whose codes differ in `distance` bits.
struct Edge {
  std::uint32_t a;
  std::uint32_t b;
  std::uint32_t distance;
  friend bool operator==(const Edge&, const Edge&) = default;
  friend auto operator<=>(const Edge&, const Edge&) = default;
};

int hamming(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) noexcept;

// All pairs within `radius` bits among `rows` of the column, exactly, up to equal codes: rows of
// one code are linked to the first of them (distance 0), and between two codes only their first
// rows are linked; so components are exact while a heap of equal images costs a line, not a square.
// Sorted. A scan over distinct codes in blocks, parallel by TBB; the result depends on nothing but
// the input.
std::vector<Edge> edges_within(const CodeColumn& codes, std::span<const std::uint32_t> rows,
                               int radius);

// Links rows of equal hash to the first of them. Sorted; distance 0.
std::vector<Edge> equal_edges(std::span<const Hash128> hashes, std::span<const std::uint32_t> rows);

}  // namespace winnow::dedup
