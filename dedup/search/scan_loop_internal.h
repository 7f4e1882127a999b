#pragma once

// The loops of all scan kernels, compiled once for each instruction set.
// The file of each kernel has its own compiler flags. An inline function shared with another file
// could be linked from either, so everything is in the unnamed namespace, and no standard header
// with code is included.

#include <cstddef>
#include <cstdint>

#include "dedup/search/scan_kernels_internal.h"

namespace winnow::dedup {
namespace {

// Population count of a word. Without an instruction for it, sums fields of growing width, which
// the compiler vectorises.
inline std::uint64_t ones(std::uint64_t x) noexcept {
#if defined(__x86_64__) && !defined(__POPCNT__)
  x -= (x >> 1) & 0x5555555555555555;
  x = (x & 0x3333333333333333) + ((x >> 2) & 0x3333333333333333);
  x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0f;
  x += x >> 8;
  x += x >> 16;
  x += x >> 32;
  return x & 0x7f;
#else
  return static_cast<std::uint64_t>(__builtin_popcountll(x));
#endif
}

// kWords == 0: the number of words is only known at run time.
template <std::size_t kWords>
inline std::uint64_t distance(const CodeRun& codes, std::size_t j,
                              const std::uint64_t* query) noexcept {
  const std::size_t count = kWords == 0 ? codes.words_per_code : kWords;
  std::uint64_t bits = 0;
  for (std::size_t w = 0; w < count; ++w)
    bits += ones(codes.words[w * codes.stride + j] ^ query[w]);
  return bits;
}

template <std::size_t kWords>
inline bool differs(const CodeRun& codes, std::size_t j, const QueryRun& query) noexcept {
  const std::size_t count = kWords == 0 ? codes.words_per_code : kWords;
  for (std::size_t m = 0; m < query.differ_count; ++m) {
    std::uint64_t bits = 0;
    for (std::size_t w = 0; w < count; ++w) {
      bits |= (codes.words[w * codes.stride + j] ^ query.words[w]) & query.differ[m * count + w];
    }
    if (bits == 0) return false;
  }
  return true;
}

// Hits are rare, so each chunk is first tested without branches: distance - (radius + 1) wraps
// below zero for a hit, which sets the top bit of the OR over the chunk.
template <std::size_t kWords>
std::size_t scan_words(const CodeRun& codes, const QueryRun& query, std::uint32_t* hits,
                       std::uint32_t* distances) noexcept {
  constexpr std::size_t kChunk = 128;
  const std::uint64_t limit = std::uint64_t{query.radius} + 1;
  std::size_t count = 0;
  for (std::size_t begin = 0; begin < codes.count; begin += kChunk) {
    const std::size_t size = codes.count - begin < kChunk ? codes.count - begin : kChunk;
    std::uint64_t below[kChunk];
    std::uint64_t any = 0;
    for (std::size_t j = 0; j < size; ++j) {
      below[j] = distance<kWords>(codes, begin + j, query.words) - limit;
      any |= below[j];
    }
    if ((any >> 63) == 0) continue;
    std::uint32_t near[kChunk];
    std::size_t near_count = 0;
    for (std::size_t j = 0; j < size; ++j) {
      near[near_count] = static_cast<std::uint32_t>(j);
      near_count += below[j] >> 63;
    }
    for (std::size_t n = 0; n < near_count; ++n) {
      const std::size_t j = near[n];
      if (!differs<kWords>(codes, begin + j, query)) continue;
      hits[count] = static_cast<std::uint32_t>(begin + j);
      distances[count++] = static_cast<std::uint32_t>(below[j] + limit);
    }
  }
  return count;
}

// Four queries share each load of a code, and one test at the end.
template <std::size_t kWords>
std::size_t candidates_words(const CodeRun& queries, const CodeRun& codes, bool triangle,
                             std::uint32_t radius, std::uint32_t* found) noexcept {
  constexpr std::size_t kGroup = 4;
  const std::uint64_t limit = std::uint64_t{radius} + 1;
  std::size_t count = 0;
  for (std::size_t i = 0; i < queries.count; i += kGroup) {
    const std::size_t lanes = queries.count - i < kGroup ? queries.count - i : kGroup;
    std::uint64_t query[kGroup][kWords];
    for (std::size_t lane = 0; lane < kGroup; ++lane) {
      // Missing lanes repeat the last query.
      const std::size_t of = i + (lane < lanes ? lane : lanes - 1);
      for (std::size_t w = 0; w < kWords; ++w) {
        query[lane][w] = queries.words[w * queries.stride + of];
      }
    }
    std::uint64_t below = 0;
    std::size_t first = 0;
    if (triangle) {
      for (std::size_t a = 0; a < lanes; ++a) {
        for (std::size_t b = a + 1; b < lanes; ++b) {
          std::uint64_t bits = 0;
          for (std::size_t w = 0; w < kWords; ++w) bits += ones(query[a][w] ^ query[b][w]);
          below |= bits - limit;
        }
      }
      first = i + lanes;
    }
    for (std::size_t j = first; j < codes.count; ++j) {
      below |= (distance<kWords>(codes, j, query[0]) - limit) |
               (distance<kWords>(codes, j, query[1]) - limit) |
               (distance<kWords>(codes, j, query[2]) - limit) |
               (distance<kWords>(codes, j, query[3]) - limit);
    }
    if ((below >> 63) == 0) continue;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      found[count++] = static_cast<std::uint32_t>(i + lane);
    }
  }
  return count;
}

std::size_t scan(const CodeRun& codes, const QueryRun& query, std::uint32_t* hits,
                 std::uint32_t* distances) noexcept {
  switch (codes.words_per_code) {
    case 1:
      return scan_words<1>(codes, query, hits, distances);
    case 2:
      return scan_words<2>(codes, query, hits, distances);
    case 4:
      return scan_words<4>(codes, query, hits, distances);
    default:
      return scan_words<0>(codes, query, hits, distances);
  }
}

std::size_t candidates(const CodeRun& queries, const CodeRun& codes, bool triangle,
                       std::uint32_t radius, std::uint32_t* found) noexcept {
  switch (codes.words_per_code) {
    case 1:
      return candidates_words<1>(queries, codes, triangle, radius, found);
    case 2:
      return candidates_words<2>(queries, codes, triangle, radius, found);
    case 4:
      return candidates_words<4>(queries, codes, triangle, radius, found);
    default:  // no hash has this width: treat every query as a candidate
      for (std::size_t i = 0; i < queries.count; ++i) found[i] = static_cast<std::uint32_t>(i);
      return queries.count;
  }
}

[[maybe_unused]] void gather_bits(const CodeRun& codes, const std::uint16_t* bits,
                                  std::size_t width, std::uint16_t* keys) noexcept {
  constexpr std::size_t kChunk = 512;
  std::uint64_t gathered[kChunk];
  for (std::size_t begin = 0; begin < codes.count; begin += kChunk) {
    const std::size_t count = codes.count - begin < kChunk ? codes.count - begin : kChunk;
    for (std::size_t j = 0; j < count; ++j) gathered[j] = 0;
    for (std::size_t t = 0; t < width; ++t) {
      const std::uint64_t* plane = codes.words + (bits[t] / 64) * codes.stride + begin;
      const unsigned shift = bits[t] % 64;
      for (std::size_t j = 0; j < count; ++j) {
        gathered[j] = (gathered[j] << 1) | ((plane[j] >> shift) & 1);
      }
    }
    for (std::size_t j = 0; j < count; ++j) {
      keys[begin + j] = static_cast<std::uint16_t>(gathered[j]);
    }
  }
}

}  // namespace
}  // namespace winnow::dedup
