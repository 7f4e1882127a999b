#include "common/channel_sums.h"

#include <algorithm>
#include <cstddef>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace winnow {
namespace {

using Byte = std::uint8_t;

// A byte of a row belongs to channel (place % channels): blocks of 48 bytes hold whole pixels of 1
// and of 3 channels.
constexpr std::size_t kPeriod = 48;
constexpr std::size_t kBlock = 2 * kPeriod;
// What 32 bits hold of the sums of two squares.
constexpr int kBlocksPerDrain = 32768;

// Sums of blocks, by the place in the period; two bytes of a block have each place.
struct Places {
  std::array<std::uint32_t, kPeriod> sum{};
  std::array<std::uint32_t, kPeriod> sum_of_squares{};
};

void add_blocks_base(const Byte* bytes, std::size_t blocks, Places& places) {
  for (std::size_t b = 0; b < 2 * blocks; ++b, bytes += kPeriod) {
    for (std::size_t i = 0; i < kPeriod; ++i) {
      const std::uint32_t value = bytes[i];
      places.sum[i] += value;
      places.sum_of_squares[i] += value * value;
    }
  }
}

#if defined(__x86_64__)
// The two bytes of each place, made 16 bits and brought side by side, are multiplied and added in
// one step.
[[gnu::target("avx2")]] void add_blocks_avx2(const Byte* bytes, std::size_t blocks,
                                             Places& places) {
  constexpr int kVectors = 6;  // of eight places
  auto* const sums = reinterpret_cast<__m256i*>(places.sum.data());
  auto* const squares = reinterpret_cast<__m256i*>(places.sum_of_squares.data());
  __m256i sum[kVectors];
  __m256i square[kVectors];
  for (int v = 0; v < kVectors; ++v) {
    sum[v] = _mm256_loadu_si256(sums + v);
    square[v] = _mm256_loadu_si256(squares + v);
  }
  const __m256i one = _mm256_set1_epi16(1);
  for (std::size_t b = 0; b < blocks; ++b, bytes += kBlock) {
    for (int v = 0; v < kVectors; ++v) {
      const Byte* p = bytes + 8 * v;
      const __m128i first = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
      const __m128i second = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p + kPeriod));
      const __m256i pairs = _mm256_cvtepu8_epi16(_mm_unpacklo_epi8(first, second));
      sum[v] = _mm256_add_epi32(sum[v], _mm256_madd_epi16(pairs, one));
      square[v] = _mm256_add_epi32(square[v], _mm256_madd_epi16(pairs, pairs));
    }
  }
  for (int v = 0; v < kVectors; ++v) {
    _mm256_storeu_si256(sums + v, sum[v]);
    _mm256_storeu_si256(squares + v, square[v]);
  }
}
auto best_add_blocks() {
  return __builtin_cpu_supports("avx2") ? add_blocks_avx2 : add_blocks_base;
}
#else
auto best_add_blocks() { return add_blocks_base; }
#endif

}  // namespace

ChannelSums sum_channels(ImageView image) {
  const auto add_blocks = best_add_blocks();
  const auto channels = static_cast<std::size_t>(image.channels);
  const std::size_t row_bytes = static_cast<std::size_t>(image.width_px) * channels;
  // Rows without padding between them are one long row.
  const bool one_row = image.row_stride_bytes == static_cast<std::ptrdiff_t>(row_bytes);
  const std::size_t line =
      one_row ? row_bytes * static_cast<std::size_t>(image.height_px) : row_bytes;
  const int lines = one_row ? 1 : image.height_px;
  ChannelSums sums;
  for (int y = 0; y < lines; ++y) {
    const Byte* row = image.row(y);
    std::size_t x = 0;
    while (x + kBlock <= line) {
      const std::size_t blocks = std::min<std::size_t>((line - x) / kBlock, kBlocksPerDrain);
      Places places;
      add_blocks(row + x, blocks, places);
      for (std::size_t i = 0; i < kPeriod; ++i) {
        sums.sum[i % channels] += places.sum[i];
        sums.sum_of_squares[i % channels] += places.sum_of_squares[i];
      }
      x += blocks * kBlock;
    }
    for (; x < line; ++x) {
      const std::uint64_t value = row[x];
      sums.sum[x % channels] += value;
      sums.sum_of_squares[x % channels] += value * value;
    }
  }
  return sums;
}

}  // namespace winnow
