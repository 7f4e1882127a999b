#include "dedup/hash/features.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <array>
#include <cstdint>

#include "common/resample.h"
#include "common/simd.h"

namespace winnow::dedup {

namespace {

// Sums over at most kBlock values of a row of the Laplacian, so that they fit in 32 bits.
constexpr int kBlock = 2048;
struct RowSums {
  std::int32_t values = 0;
  std::uint32_t squares = 0;
};

RowSums laplacian_base(const std::uint8_t* above, const std::uint8_t* row,
                       const std::uint8_t* below, int count) {
  RowSums sums;
  for (int x = 0; x < count; ++x) {
    const std::int32_t value = above[x] + below[x] + row[x - 1] + row[x + 1] - 4 * row[x];
    sums.values += value;
    sums.squares += static_cast<std::uint32_t>(value * value);
  }
  return sums;
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] RowSums laplacian_avx2(const std::uint8_t* above, const std::uint8_t* row,
                                               const std::uint8_t* below, int count) {
  const auto load = [](const std::uint8_t* p) __attribute__((target("avx2"), always_inline)) {
    return _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  };
  const __m256i one = _mm256_set1_epi16(1);
  __m256i values = {};
  __m256i squares = {};
  int x = 0;
  for (; x + 16 <= count; x += 16) {
    const __m256i around = _mm256_add_epi16(_mm256_add_epi16(load(above + x), load(below + x)),
                                            _mm256_add_epi16(load(row + x - 1), load(row + x + 1)));
    const __m256i value = _mm256_sub_epi16(around, _mm256_slli_epi16(load(row + x), 2));
    values = _mm256_add_epi32(values, _mm256_madd_epi16(value, one));
    squares = _mm256_add_epi32(squares, _mm256_madd_epi16(value, value));
  }
  RowSums sums = laplacian_base(above + x, row + x, below + x, count - x);
  alignas(32) std::int32_t lanes[8];
  alignas(32) std::uint32_t square_lanes[8];
  _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), values);
  _mm256_store_si256(reinterpret_cast<__m256i*>(square_lanes), squares);
  for (int i = 0; i < 8; ++i) {
    sums.values += lanes[i];
    sums.squares += square_lanes[i];
  }
  return sums;
}
[[gnu::target("avx512f,avx512bw,avx512vl,avx512vnni")]] RowSums laplacian_vnni(
    const std::uint8_t* above, const std::uint8_t* row, const std::uint8_t* below, int count) {
  const __m512i one = _mm512_set1_epi16(1);
  __m512i values = _mm512_setzero_si512();
  __m512i squares = _mm512_setzero_si512();
  for (int x = 0; x < count; x += 32) {
    const __mmask32 there = ~__mmask32{0} >> std::max(0, 32 - (count - x));
    const auto load = [there](const std::uint8_t* p)
        __attribute__((target("avx512f,avx512bw,avx512vl"), always_inline)) {
      return _mm512_cvtepu8_epi16(_mm256_maskz_loadu_epi8(there, p));
    };
    const __m512i around = _mm512_add_epi16(_mm512_add_epi16(load(above + x), load(below + x)),
                                            _mm512_add_epi16(load(row + x - 1), load(row + x + 1)));
    const __m512i value = _mm512_sub_epi16(around, _mm512_slli_epi16(load(row + x), 2));
    values = _mm512_dpwssd_epi32(values, value, one);
    squares = _mm512_dpwssd_epi32(squares, value, value);
  }
  return {_mm512_reduce_add_epi32(values),
          static_cast<std::uint32_t>(_mm512_reduce_add_epi32(squares))};
}

auto best_laplacian() {
  const Simd simd = widest_simd();
  if (simd >= Simd::kAvx512 && __builtin_cpu_supports("avx512vnni") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
    return laplacian_vnni;
  }
  return simd >= Simd::kAvx2 ? laplacian_avx2 : laplacian_base;
}
#else
auto best_laplacian() { return laplacian_base; }
#endif

}  // namespace

namespace {

// |a - b| * 100 / 255, rounded down, without a division.
std::uint16_t percent(std::int16_t a, std::int16_t b) {
  const auto hundredfold = static_cast<std::uint16_t>((a > b ? a - b : b - a) * 100);
  return static_cast<std::uint16_t>((hundredfold + 1 + (hundredfold >> 8)) >> 8);
}

constexpr std::size_t kSketchSide = 64;

// Repeats pixels for images smaller than 64x64, as PDQ does: interpolated steps would be too small
// to count.
float quality_of(const Image& small) {
  const auto height = static_cast<std::size_t>(small.height_px);
  const auto width = static_cast<std::size_t>(small.width_px);
  std::array<std::size_t, kSketchSide> column;
  for (std::size_t j = 0; j < kSketchSide; ++j) column[j] = (2 * j + 1) * width / (2 * kSketchSide);
  // A row that repeats the one above has horizontal steps, but no vertical ones.
  std::array<std::int16_t, kSketchSide> p;
  std::array<std::int16_t, kSketchSide> above{};
  std::uint16_t across = 0;  // at most 63 times 100
  std::size_t before = height;
  int gradients = 0;
  for (std::size_t i = 0; i < kSketchSide; ++i) {
    const std::size_t y = (2 * i + 1) * height / (2 * kSketchSide);
    if (y != before) {
      const std::uint8_t* row = small.pixels.data() + y * width;
      for (std::size_t j = 0; j < kSketchSide; ++j) p[j] = row[column[j]];
      across = 0;
      for (std::size_t j = 0; j + 1 < kSketchSide; ++j) {
        across = static_cast<std::uint16_t>(across + percent(p[j + 1], p[j]));
      }
      std::uint16_t down = 0;
      for (std::size_t j = 0; i > 0 && j < kSketchSide; ++j) {
        down = static_cast<std::uint16_t>(down + percent(p[j], above[j]));
      }
      gradients += down;
      above = p;
    }
    before = y;
    gradients += across;
  }
  return std::min(100.0F, static_cast<float>(gradients) / 90.0F);
}

RowFeatures features_of(ImageView gray) {
  RowFeatures features(gray.height_px, gray.width_px);
  features.add(gray, 0);
  return features;
}

}  // namespace

RowFeatures::RowFeatures(int height_px, int width_px, ResampleWeights* weights)
    : height_px_(height_px),
      width_px_(width_px),
      resizer_({height_px, width_px, 1, std::min<int>(kSketchSide, height_px),
                std::min<int>(kSketchSide, width_px)},
               ResampleFilter::kBilinear, weights) {}

void RowFeatures::add(ImageView gray, int above) {
  const auto laplacian = best_laplacian();
  for (int y = 1; y + 1 < gray.height_px; ++y) {
    for (int x = 1; x + 1 < gray.width_px; x += kBlock) {
      const RowSums part = laplacian(gray.row(y - 1) + x, gray.row(y) + x, gray.row(y + 1) + x,
                                     std::min(kBlock, gray.width_px - 1 - x));
      sum_ += part.values;
      squares_ += part.squares;
    }
  }
  resizer_.add({gray.row(above), gray.height_px - above, gray.width_px, 1, gray.row_stride_bytes});
}

float RowFeatures::sharpness() const {
  if (height_px_ < 3 || width_px_ < 3) return 0.0F;
  const double count = static_cast<double>(height_px_ - 2) * (width_px_ - 2);
  const double mean = static_cast<double>(sum_) / count;
  return static_cast<float>(std::max(0.0, static_cast<double>(squares_) / count - mean * mean));
}

float RowFeatures::quality() { return quality_of(resizer_.finish()); }

float sharpness(ImageView gray) { return features_of(gray).sharpness(); }

float quality(ImageView gray) { return features_of(gray).quality(); }

}  // namespace winnow::dedup
