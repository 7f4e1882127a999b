// Counts bits by table lookup of half bytes, four words at a time; the rest as with popcnt.

#include <immintrin.h>

#include "dedup/search/scan_loop_internal.h"

namespace winnow::dedup {
namespace {

constexpr std::size_t kLanes = 4;
constexpr std::size_t kGroup = 4;

inline __m256i ones_of_bytes(__m256i x) noexcept {
  const __m256i ones_of = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,  //
                                           0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
  const __m256i low = _mm256_set1_epi8(0x0f);
  const __m256i in_low = _mm256_shuffle_epi8(ones_of, _mm256_and_si256(x, low));
  const __m256i in_high =
      _mm256_shuffle_epi8(ones_of, _mm256_and_si256(_mm256_srli_epi16(x, 4), low));
  return _mm256_add_epi8(in_low, in_high);
}

template <std::size_t kWords>
std::size_t candidates_vectors(const CodeRun& queries, const CodeRun& codes, bool triangle,
                               std::uint32_t radius, std::uint32_t* found) noexcept {
  const __m256i limit = _mm256_set1_epi64x(std::int64_t{radius} + 1);
  const __m256i zero = _mm256_setzero_si256();
  std::size_t count = 0;
  for (std::size_t i = 0; i < queries.count; i += kGroup) {
    const std::size_t members = queries.count - i < kGroup ? queries.count - i : kGroup;
    __m256i query[kGroup][kWords];
    for (std::size_t q = 0; q < kGroup; ++q) {
      // Missing lanes repeat the last query.
      const std::size_t of = i + (q < members ? q : members - 1);
      for (std::size_t w = 0; w < kWords; ++w) {
        query[q][w] =
            _mm256_set1_epi64x(static_cast<long long>(queries.words[w * queries.stride + of]));
      }
    }
    __m256i any = zero;
    std::size_t j = triangle ? i + members : 0;
    for (; j + kLanes <= codes.count; j += kLanes) {
      __m256i code[kWords];
      for (std::size_t w = 0; w < kWords; ++w) {
        code[w] = _mm256_loadu_si256(
            reinterpret_cast<const __m256i*>(codes.words + w * codes.stride + j));
      }
      for (std::size_t q = 0; q < kGroup; ++q) {
        __m256i bits = ones_of_bytes(_mm256_xor_si256(code[0], query[q][0]));
        for (std::size_t w = 1; w < kWords; ++w) {
          bits = _mm256_add_epi8(bits, ones_of_bytes(_mm256_xor_si256(code[w], query[q][w])));
        }
        any = _mm256_or_si256(any, _mm256_sub_epi64(_mm256_sad_epu8(bits, zero), limit));
      }
    }
    bool near = _mm256_movemask_pd(_mm256_castsi256_pd(any)) != 0;
    // The remainder for each query: the other members, and the last codes.
    for (std::size_t q = 0; q < members && !near; ++q) {
      std::uint64_t words[kWords];
      for (std::size_t w = 0; w < kWords; ++w) words[w] = queries.words[w * queries.stride + i + q];
      for (std::size_t b = i + q + 1; triangle && b < i + members; ++b) {
        near |= distance<kWords>(codes, b, words) <= radius;
      }
      for (std::size_t b = j; b < codes.count; ++b) {
        near |= distance<kWords>(codes, b, words) <= radius;
      }
    }
    if (!near) continue;
    for (std::size_t q = 0; q < members; ++q) found[count++] = static_cast<std::uint32_t>(i + q);
  }
  return count;
}

std::size_t candidates_avx2(const CodeRun& queries, const CodeRun& codes, bool triangle,
                            std::uint32_t radius, std::uint32_t* found) noexcept {
  switch (codes.words_per_code) {
    case 1:
      return candidates_vectors<1>(queries, codes, triangle, radius, found);
    case 2:
      return candidates_vectors<2>(queries, codes, triangle, radius, found);
    default:
      return candidates(queries, codes, triangle, radius, found);
  }
}

}  // namespace

const ScanLoops kAvx2Loops{scan, candidates_avx2, gather_bits};

}  // namespace winnow::dedup
