#include "pipeline/store/channel_sums.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "common/simd.h"

namespace winnow::pipeline {
namespace {

using Byte = std::uint8_t;

// Adds the sums of blocks of bytes. A byte belongs to channel (position % channels); blocks hold
// whole pixels of 1 and of 3 channels.
struct Kernel {
  std::size_t block_bytes;
  void (*add)(const Byte* bytes, std::size_t blocks, std::size_t channels, ChannelSums& sums);
};

void add_base(const Byte* bytes, std::size_t blocks, std::size_t channels, ChannelSums& sums) {
  for (std::size_t i = 0; i < 3 * blocks; ++i) {
    const std::uint64_t value = bytes[i];
    sums.sum[i % channels] += value;
    sums.sum_of_squares[i % channels] += value * value;
  }
}

#if defined(__x86_64__)
// The bytes of two periods are widened to 16 bits, paired by position, multiplied and added in one
// step.
[[gnu::target("avx2")]] void add_avx2(const Byte* bytes, std::size_t blocks, std::size_t channels,
                                      ChannelSums& sums) {
  constexpr std::size_t kPeriod = 48;
  constexpr std::size_t kVectors = 6;           // vectors of eight positions
  constexpr std::size_t kBlocksAtOnce = 32768;  // 32 bits hold this many sums of two squares
  const __m256i one = _mm256_set1_epi16(1);
  while (blocks > 0) {
    __m256i sum[kVectors] = {};
    __m256i square[kVectors] = {};
    const std::size_t count = std::min(blocks, kBlocksAtOnce);
    for (std::size_t b = 0; b < count; ++b, bytes += 2 * kPeriod) {
      for (std::size_t v = 0; v < kVectors; ++v) {
        const Byte* p = bytes + 8 * v;
        const __m128i first = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
        const __m128i second = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p + kPeriod));
        const __m256i pairs = _mm256_cvtepu8_epi16(_mm_unpacklo_epi8(first, second));
        sum[v] = _mm256_add_epi32(sum[v], _mm256_madd_epi16(pairs, one));
        square[v] = _mm256_add_epi32(square[v], _mm256_madd_epi16(pairs, pairs));
      }
    }
    std::array<std::uint32_t, kPeriod> by_place;
    std::memcpy(by_place.data(), sum, sizeof(sum));
    for (std::size_t i = 0; i < kPeriod; ++i) sums.sum[i % channels] += by_place[i];
    std::memcpy(by_place.data(), square, sizeof(square));
    for (std::size_t i = 0; i < kPeriod; ++i) sums.sum_of_squares[i % channels] += by_place[i];
    blocks -= count;
  }
}

// Likewise four bytes of each position, as x times (x - 128), to which 128 times the sum is added.
[[gnu::target("avx512f,avx512bw,avx512vnni")]] void add_vnni(const Byte* bytes, std::size_t blocks,
                                                             std::size_t channels,
                                                             ChannelSums& sums) {
  constexpr std::size_t kPeriod = 192;
  constexpr std::size_t kVectors = 3;           // vectors of 64 positions
  constexpr std::size_t kBlocksAtOnce = 16384;  // 31 bits hold this many sums of four products
  const __m512i one = _mm512_set1_epi8(1);
  const __m512i top_bit = _mm512_set1_epi8(-128);
  while (blocks > 0) {
    __m512i sum[kVectors][4] = {};
    __m512i product[kVectors][4] = {};
    const std::size_t count = std::min(blocks, kBlocksAtOnce);
    for (std::size_t b = 0; b < count; ++b, bytes += 4 * kPeriod) {
      for (std::size_t v = 0; v < kVectors; ++v) {
        const Byte* p = bytes + 64 * v;
        const __m512i first = _mm512_loadu_si512(p);
        const __m512i second = _mm512_loadu_si512(p + kPeriod);
        const __m512i third = _mm512_loadu_si512(p + 2 * kPeriod);
        const __m512i fourth = _mm512_loadu_si512(p + 3 * kPeriod);
        const __m512i low12 = _mm512_unpacklo_epi8(first, second);
        const __m512i high12 = _mm512_unpackhi_epi8(first, second);
        const __m512i low34 = _mm512_unpacklo_epi8(third, fourth);
        const __m512i high34 = _mm512_unpackhi_epi8(third, fourth);
        const __m512i fours[4] = {
            _mm512_unpacklo_epi16(low12, low34), _mm512_unpackhi_epi16(low12, low34),
            _mm512_unpacklo_epi16(high12, high34), _mm512_unpackhi_epi16(high12, high34)};
        for (std::size_t k = 0; k < 4; ++k) {
          sum[v][k] = _mm512_dpbusd_epi32(sum[v][k], fours[k], one);
          product[v][k] =
              _mm512_dpbusd_epi32(product[v][k], fours[k], _mm512_xor_si512(fours[k], top_bit));
        }
      }
    }
    std::array<std::int32_t, kPeriod> by_lane;
    std::array<std::int32_t, kPeriod> products;
    std::memcpy(by_lane.data(), sum, sizeof(sum));
    std::memcpy(products.data(), product, sizeof(product));
    for (std::size_t i = 0; i < kPeriod; ++i) {
      // Vectors were unpacked in 128-bit lanes.
      const std::size_t place = i / 64 * 64 + i % 16 / 4 * 16 + i / 16 % 4 * 4 + i % 4;
      const std::int64_t squares = products[i] + std::int64_t{128} * by_lane[i];
      sums.sum[place % channels] += static_cast<std::uint64_t>(by_lane[i]);
      sums.sum_of_squares[place % channels] += static_cast<std::uint64_t>(squares);
    }
    blocks -= count;
  }
}

Kernel best_kernel() {
  const Simd simd = widest_simd();
  if (simd >= Simd::kAvx512 && __builtin_cpu_supports("avx512vnni") &&
      __builtin_cpu_supports("avx512bw")) {
    return {768, add_vnni};
  }
  if (simd >= Simd::kAvx2) return {96, add_avx2};
  return {3, add_base};
}
#else
Kernel best_kernel() { return {3, add_base}; }
#endif

}  // namespace

ChannelSums sum_channels(ImageView image) {
  const Kernel kernel = best_kernel();
  const auto channels = static_cast<std::size_t>(image.channels);
  const std::size_t row_bytes = static_cast<std::size_t>(image.width_px) * channels;
  // Contiguous rows are treated as one long row.
  const bool one_row = image.row_stride_bytes == static_cast<std::ptrdiff_t>(row_bytes);
  const std::size_t line = row_bytes * static_cast<std::size_t>(one_row ? image.height_px : 1);
  const int lines = one_row ? 1 : image.height_px;
  ChannelSums sums;
  for (int y = 0; y < lines; ++y) {
    const Byte* row = image.row(y);
    const std::size_t blocks = line / kernel.block_bytes;
    kernel.add(row, blocks, channels, sums);
    const std::size_t done = blocks * kernel.block_bytes;
    for (std::size_t x = done; x < line; ++x) {
      const std::uint64_t value = row[x];
      sums.sum[x % channels] += value;
      sums.sum_of_squares[x % channels] += value * value;
    }
  }
  return sums;
}

}  // namespace winnow::pipeline
