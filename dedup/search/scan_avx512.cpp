// Separate loops, because most runs of codes are short: the remainder is a masked vector instead of
// single codes.

#include <immintrin.h>

#include "dedup/search/scan_loop_internal.h"

namespace winnow::dedup {
namespace {

constexpr std::size_t kLanes = 8;

inline __mmask8 first_lanes(std::size_t count) noexcept {
  return static_cast<__mmask8>(count >= kLanes ? 0xFF : (1U << count) - 1);
}

// Compares kGroup queries (one vector each for word w in query[w * kGroup + q]) with eight codes.
// The top bit of each result is set if the distance is below `limit`.
template <std::size_t kWords, std::size_t kGroup, class Subtract>
inline __m512i below(const __m512i* query, const __m512i* code, const Subtract& subtract) noexcept {
  __m512i any = _mm512_setzero_si512();
  for (std::size_t q = 0; q < kGroup; ++q) {
    __m512i bits = _mm512_popcnt_epi64(_mm512_xor_si512(code[0], query[q]));
    for (std::size_t w = 1; w < kWords; ++w) {
      bits = _mm512_add_epi64(
          bits, _mm512_popcnt_epi64(_mm512_xor_si512(code[w], query[w * kGroup + q])));
    }
    any = _mm512_or_si512(any, subtract(q, bits));
  }
  return any;
}

template <std::size_t kWords, std::size_t kGroup>
std::size_t candidates_vectors(const CodeRun& queries, const CodeRun& codes, bool triangle,
                               std::uint32_t radius, std::uint32_t* found) noexcept {
  std::size_t count = 0;
  const __m512i limit = _mm512_set1_epi64(std::int64_t{radius} + 1);
  for (std::size_t i = 0; i < queries.count; i += kGroup) {
    const std::size_t members = queries.count - i < kGroup ? queries.count - i : kGroup;
    __m512i query[kWords * kGroup];
    for (std::size_t q = 0; q < kGroup; ++q) {
      // Missing lanes repeat the last query.
      const std::size_t of = i + (q < members ? q : members - 1);
      for (std::size_t w = 0; w < kWords; ++w) {
        query[w * kGroup + q] =
            _mm512_set1_epi64(static_cast<long long>(queries.words[w * queries.stride + of]));
      }
    }
    __m512i any = _mm512_setzero_si512();
    __m512i code[kWords];
    const auto load = [&](std::size_t j, __mmask8 present) {
      for (std::size_t w = 0; w < kWords; ++w) {
        code[w] = _mm512_maskz_loadu_epi64(present, codes.words + w * codes.stride + j);
      }
    };
    std::size_t j = 0;
    if (triangle) {  // only codes after each query
      const __mmask8 present = first_lanes(codes.count - i);
      load(i, present);
      any = below<kWords, kGroup>(query, code, [&](std::size_t q, __m512i bits) {
        const auto lanes = static_cast<__mmask8>(q < members ? (0xFFU << (q + 1)) & present : 0);
        return _mm512_maskz_sub_epi64(lanes, bits, limit);
      });
      j = i + kLanes;
    }
    for (; j + kLanes <= codes.count; j += kLanes) {
      load(j, 0xFF);
      any = _mm512_or_si512(any, below<kWords, kGroup>(query, code, [&](std::size_t, __m512i bits) {
                              return _mm512_sub_epi64(bits, limit);
                            }));
    }
    if (j < codes.count) {
      const __mmask8 present = first_lanes(codes.count - j);
      load(j, present);
      any = _mm512_or_si512(any, below<kWords, kGroup>(query, code, [&](std::size_t, __m512i bits) {
                              return _mm512_maskz_sub_epi64(present, bits, limit);
                            }));
    }
    if (_mm512_movepi64_mask(any) == 0) continue;
    for (std::size_t q = 0; q < members; ++q) found[count++] = static_cast<std::uint32_t>(i + q);
  }
  return count;
}

std::size_t candidates_avx512(const CodeRun& queries, const CodeRun& codes, bool triangle,
                              std::uint32_t radius, std::uint32_t* found) noexcept {
  switch (codes.words_per_code) {
    case 1:
      return candidates_vectors<1, 8>(queries, codes, triangle, radius, found);
    case 2:
      return candidates_vectors<2, 8>(queries, codes, triangle, radius, found);
    case 4:
      return candidates_vectors<4, 4>(queries, codes, triangle, radius, found);
    default:
      return candidates(queries, codes, triangle, radius, found);
  }
}

template <std::size_t kWords>
std::size_t scan_vectors(const CodeRun& codes, const QueryRun& query, std::uint32_t* hits,
                         std::uint32_t* distances) noexcept {
  const __m512i limit = _mm512_set1_epi64(query.radius);
  const __m256i ascending = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  std::size_t count = 0;
  for (std::size_t j = 0; j < codes.count; j += kLanes) {
    const __mmask8 present = first_lanes(codes.count - j);
    __m512i different[kWords];
    __m512i bits = _mm512_setzero_si512();
    for (std::size_t w = 0; w < kWords; ++w) {
      const __m512i code = _mm512_maskz_loadu_epi64(present, codes.words + w * codes.stride + j);
      different[w] =
          _mm512_xor_si512(code, _mm512_set1_epi64(static_cast<long long>(query.words[w])));
      bits = _mm512_add_epi64(bits, _mm512_popcnt_epi64(different[w]));
    }
    __mmask8 near = _mm512_mask_cmple_epu64_mask(present, bits, limit);
    if (near == 0) continue;
    for (std::size_t m = 0; m < query.differ_count; ++m) {
      __m512i masked = _mm512_setzero_si512();
      for (std::size_t w = 0; w < kWords; ++w) {
        const auto mask = static_cast<long long>(query.differ[m * kWords + w]);
        masked = _mm512_or_si512(masked, _mm512_and_si512(different[w], _mm512_set1_epi64(mask)));
      }
      near = _mm512_mask_test_epi64_mask(near, masked, masked);
    }
    const auto found = static_cast<std::size_t>(__builtin_popcount(near));
    const __mmask8 places = first_lanes(found);
    const __m256i at =
        _mm256_add_epi32(ascending, _mm256_set1_epi32(static_cast<int>(static_cast<unsigned>(j))));
    _mm256_mask_storeu_epi32(hits + count, places, _mm256_maskz_compress_epi32(near, at));
    _mm256_mask_storeu_epi32(
        distances + count, places,
        _mm256_maskz_compress_epi32(near, _mm512_maskz_cvtepi64_epi32(0xFF, bits)));
    count += found;
  }
  return count;
}

std::size_t scan_avx512(const CodeRun& codes, const QueryRun& query, std::uint32_t* hits,
                        std::uint32_t* distances) noexcept {
  switch (codes.words_per_code) {
    case 1:
      return scan_vectors<1>(codes, query, hits, distances);
    case 2:
      return scan_vectors<2>(codes, query, hits, distances);
    case 4:
      return scan_vectors<4>(codes, query, hits, distances);
    default:
      return scan(codes, query, hits, distances);
  }
}

// One instruction extracts eight bits of each of eight words.
void gather_bits_avx512(const CodeRun& codes, const std::uint16_t* bits, std::size_t width,
                        std::uint16_t* keys) noexcept {
  constexpr std::size_t kByteBits = 8;
  for (std::size_t j = 0; j < codes.count; j += kLanes) {
    _mm_mask_storeu_epi16(keys + j, first_lanes(codes.count - j), _mm_setzero_si128());
  }
  // Loops over bytes of the keys, lowest first, and over words of the codes.
  for (std::size_t byte = 0; byte * kByteBits < width; ++byte) {
    for (std::size_t w = 0; w < codes.words_per_code; ++w) {
      std::uint64_t places = 0;   // position in the word of each bit of this byte
      std::uint64_t present = 0;  // bits of this byte that are in this word
      for (std::size_t b = 0; b < kByteBits && byte * kByteBits + b < width; ++b) {
        const std::uint16_t bit = bits[width - 1 - (byte * kByteBits + b)];
        if (bit / 64 != w) continue;
        places |= std::uint64_t{bit % 64U} << (kByteBits * b);
        present |= std::uint64_t{1} << b;
      }
      if (present == 0) continue;
      present *= 0x0101010101010101;
      const __m512i where = _mm512_set1_epi64(static_cast<long long>(places));
      const __m128i shift = _mm_cvtsi32_si128(static_cast<int>(byte * kByteBits));
      for (std::size_t j = 0; j < codes.count; j += kLanes) {
        const __mmask8 lanes = first_lanes(codes.count - j);
        const __m512i words = _mm512_maskz_loadu_epi64(lanes, codes.words + w * codes.stride + j);
        const std::uint64_t taken = _mm512_bitshuffle_epi64_mask(words, where) & present;
        const __m128i wide = _mm_cvtepu8_epi16(_mm_cvtsi64_si128(static_cast<long long>(taken)));
        const __m128i before = _mm_maskz_loadu_epi16(lanes, keys + j);
        _mm_mask_storeu_epi16(keys + j, lanes, _mm_or_si128(before, _mm_sll_epi16(wide, shift)));
      }
    }
  }
}

}  // namespace

const ScanLoops kAvx512Loops{scan_avx512, candidates_avx512, gather_bits_avx512};

}  // namespace winnow::dedup
