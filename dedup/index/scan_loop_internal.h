#pragma once

// The loop behind every scan kernel, compiled once per instruction set. Each kernel's file is built
// with flags of its own, so nothing here or there may be an inline function that another file
// shares (the linker would keep either copy): everything is in the unnamed namespace, and no
// standard header with code is included.

#include <cstddef>
#include <cstdint>

#include "dedup/index/scan_kernels_internal.h"

namespace winnow::dedup {
namespace {

// kWords == 0: the number of words is only known at run time.
template <std::size_t kWords>
inline std::uint64_t distance(const std::uint64_t* codes, std::size_t stride, std::size_t words,
                              std::size_t j, const std::uint64_t* query) noexcept {
  const std::size_t count = kWords == 0 ? words : kWords;
  std::uint64_t bits = 0;
  for (std::size_t w = 0; w < count; ++w) {
    bits += static_cast<std::uint64_t>(__builtin_popcountll(codes[w * stride + j] ^ query[w]));
  }
  return bits;
}

// Hits are rare, so a chunk is first asked whether it has any, without a branch per code: with
// distance - (radius + 1) wrapping below zero, the top bit of the OR over the chunk says so.
template <std::size_t kWords>
std::size_t scan_words(const std::uint64_t* codes, std::size_t stride, std::size_t words,
                       std::size_t first, std::size_t last, const std::uint64_t* query,
                       std::uint32_t radius, std::uint32_t* hits) noexcept {
  constexpr std::size_t kChunk = 256;
  const std::uint64_t limit = std::uint64_t{radius} + 1;
  std::size_t count = 0;
  for (std::size_t begin = first; begin < last; begin += kChunk) {
    const std::size_t end = last - begin < kChunk ? last : begin + kChunk;
    std::uint64_t below = 0;
    for (std::size_t j = begin; j < end; ++j) {
      below |= distance<kWords>(codes, stride, words, j, query) - limit;
    }
    if ((below >> 63) == 0) continue;
    for (std::size_t j = begin; j < end; ++j) {
      if (distance<kWords>(codes, stride, words, j, query) < limit) {
        hits[count++] = static_cast<std::uint32_t>(j);
      }
    }
  }
  return count;
}

inline std::size_t scan_any(const std::uint64_t* codes, std::size_t stride, std::size_t words,
                            std::size_t first, std::size_t last, const std::uint64_t* query,
                            std::uint32_t radius, std::uint32_t* hits) noexcept {
  switch (words) {
    case 1:
      return scan_words<1>(codes, stride, words, first, last, query, radius, hits);
    case 2:
      return scan_words<2>(codes, stride, words, first, last, query, radius, hits);
    case 4:
      return scan_words<4>(codes, stride, words, first, last, query, radius, hits);
    default:
      return scan_words<0>(codes, stride, words, first, last, query, radius, hits);
  }
}

}  // namespace
}  // namespace winnow::dedup
