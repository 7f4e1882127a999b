#include "common/resample.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <deque>
#include <memory>
#include <numbers>
#include <utility>

#include "common/simd.h"

namespace winnow {
namespace {

constexpr int kWeightBits = 22;  // Pillow's PRECISION_BITS
constexpr int kRgbBlock = 4;     // taps multiplied at once

// Each term of the series of sin(a) / a is the one before, times a^2, times this factor.
constexpr double sine_step(std::size_t n) {
  return -1.0 / static_cast<double>(2 * n * (2 * n + 1));
}

// Eight filter values are computed side by side, each as if alone.
using Doubles [[gnu::vector_size(64)]] = double;
constexpr int kDoubles = 8;
constexpr Doubles kLaneNumbers{0, 1, 2, 3, 4, 5, 6, 7};

[[gnu::always_inline]] inline Doubles absolute(Doubles x) { return x < 0 ? -x : x; }

// sin(a) / a - 1, by sizeof...(kSteps) terms of the series.
template <std::size_t... kSteps>
[[gnu::always_inline]] inline Doubles sine_series(Doubles a2, std::index_sequence<kSteps...>) {
  Doubles sum{};
  ((sum = (sum + 1.0) * a2 * sine_step(sizeof...(kSteps) - kSteps)), ...);
  return sum;
}

// Types instead of functions, which would not be inlined into functions for another instruction
// set.
struct Triangle {
  static constexpr double kSupport = 1.0;
  [[gnu::always_inline]] Doubles operator()(Doubles x) const {
    x = absolute(x);
    return x < 1.0 ? 1.0 - x : Doubles{};
  }
};

// Keys 1981, with a = -1/2.
struct Bicubic {
  static constexpr double kSupport = 2.0;
  [[gnu::always_inline]] Doubles operator()(Doubles x) const {
    constexpr double kA = -0.5;
    x = absolute(x);
    const Doubles near = ((kA + 2.0) * x - (kA + 3.0)) * x * x + 1.0;
    const Doubles far = (((x - 5.0) * x + 8.0) * x - 4.0) * kA;
    return x < 1.0 ? near : x < 2.0 ? far : Doubles{};
  }
};

// sinc(x) sinc(x / 3) for |x| <= 3, where sinc(x) = sin(pi x) / (pi x). Computed from the sine s of
// pi x / 3, because sin(3a) = 3 sin(a) - 4 sin(a)^3.
// The sine uses its Taylor series, because the last bit of the C library's depends on the machine.
// The error is far below the last of a weight's 22 bits.
struct Lanczos3 {
  static constexpr double kSupport = 3.0;
  [[gnu::always_inline]] Doubles operator()(Doubles x) const {
    const Doubles y = absolute(x) / 3;
    const Doubles z = 1.0 - y;
    const Doubles a = std::numbers::pi * (z < y ? z : y);  // sin(pi y) = sin(pi (1 - y))
    const Doubles a2 = a * a;
    const Doubles sum = sine_series(a2, std::make_index_sequence<11>());
    const Doubles s2 = a2 * (1.0 + sum) * (1.0 + sum);
    const Doubles product =
        s2 * (3.0 - 4.0 * s2) / (std::numbers::pi * std::numbers::pi * 3 * y * y);
    return y == 0.0 ? Doubles{} + 1.0 : y <= 1.0 ? product : Doubles{};
  }
};

// Weights of sixteen taps in the form of the fast loops: halved, or in three digits.
struct Halves {
  alignas(32) std::int16_t low[16];
  alignas(32) std::int16_t high[16];
};
struct Digits {
  alignas(16) std::array<std::array<std::int8_t, 16>, 3> digits;
};

// Source interval [from, from + length) of one axis with `in` pixels, and its output size.
struct Axis {
  int in;
  double from;
  double length;
  int out;

  bool is_kept() const { return in == out && from == 0 && length == in; }
  friend bool operator==(const Axis&, const Axis&) = default;
};

// For each output position of one axis, the inputs [first, first + count) and their weights.
struct Taps {
  struct Span {
    int first;
    int count;
    std::size_t at;  // index of its first weight
  };
  std::vector<Span> spans;
  std::vector<std::int32_t> weights;
  bool whole_blocks = true;    // whether all spans consist of whole blocks
  std::vector<Halves> halves;  // the weights in another form, for some loops
  std::vector<Digits> digits;
};

// block  Spans are padded to multiples of it with zero weights, if the axis is long enough.
template <class Kernel>
[[gnu::always_inline]] inline Taps make_taps(const Axis& axis, int block, Kernel kernel) {
  const int in = axis.in;
  const int out = axis.out;
  const double scale = axis.length / out;
  const double stretch = std::max(scale, 1.0);
  const double support = Kernel::kSupport * stretch;
  const double shrink = 1.0 / stretch;
  Taps taps;
  taps.spans.reserve(static_cast<std::size_t>(out));
  taps.weights.reserve(static_cast<std::size_t>(out) * (static_cast<std::size_t>(support) * 2 + 3 +
                                                        static_cast<std::size_t>(block)));
  std::vector<double> exact(static_cast<std::size_t>(support) * 2 + 3 + kDoubles);
  int longest = 0;
  for (int i = 0; i < out; ++i) {
    const double centre = axis.from + (i + 0.5) * scale;
    longest = std::max(longest, std::min(static_cast<int>(centre + support + 0.5), in) -
                                    std::max(static_cast<int>(centre - support + 0.5), 0));
  }
  const int most = (longest + block - 1) / block * block;
  for (int i = 0; i < out; ++i) {
    const double centre = axis.from + (i + 0.5) * scale;
    const int first = std::max(static_cast<int>(centre - support + 0.5), 0);
    const int count = std::min(static_cast<int>(centre + support + 0.5), in) - first;
    double* const w = exact.data();
    for (int x = 0; x < count; x += kDoubles) {
      const Doubles at = kLaneNumbers + static_cast<double>(x + first);
      const Doubles values = kernel((at - centre + 0.5) * shrink);
      std::memcpy(w + x, &values, sizeof(values));
    }
    double total = 0.0;
    for (int x = 0; x < count; ++x) total += w[x];
    // A span is moved left instead of reading past the end of a row. All spans get the length of
    // the longest, which is good for branch prediction.
    int padded = most;
    if (padded > in) {
      padded = count;
      taps.whole_blocks = false;
    }
    const int moved = std::min(first, in - padded);
    const std::size_t at = taps.weights.size();
    taps.weights.resize(at + static_cast<std::size_t>(padded));
    std::int32_t* const fixed = taps.weights.data() + at + (first - moved);
    for (int x = 0; x < count; ++x) {
      const double weight = total != 0.0 ? w[x] / total : w[x];
      fixed[x] = static_cast<std::int32_t>((weight < 0 ? -0.5 : 0.5) + weight * (1 << kWeightBits));
    }
    taps.spans.push_back({moved, padded, at});
  }
  return taps;
}

[[gnu::always_inline]] inline Taps make_taps(const Axis& axis, int block, ResampleFilter filter) {
  switch (filter) {
    case ResampleFilter::kBilinear:
      return make_taps(axis, block, Triangle());
    case ResampleFilter::kBicubic:
      return make_taps(axis, block, Bicubic());
    case ResampleFilter::kLanczos:
      break;
  }
  return make_taps(axis, block, Lanczos3());
}

// The loops below use integer vectors, so that every instruction set gives the same bits. They are
// inlined into one function per instruction set.
using Byte = std::uint8_t;

// Destination of rows without padding.
struct Rows {
  Byte* data;
  int height_px;
  int width_px;
  int channels;
};

using Lanes8 [[gnu::vector_size(32)]] = std::int32_t;
using Lanes4 [[gnu::vector_size(16)]] = std::int32_t;
using Words4 [[gnu::vector_size(16)]] = std::uint32_t;
using Bytes16 [[gnu::vector_size(16)]] = Byte;
constexpr int kLanes = 8;
constexpr std::int32_t kHalf = 1 << (kWeightBits - 1);

// Written so that GCC compiles it to one load and one shuffle.
[[gnu::always_inline]] inline Lanes4 load4(const Byte* p) {
  std::uint32_t four;
  std::memcpy(&four, p, sizeof(four));
  const auto bytes = reinterpret_cast<Bytes16>(Words4{four, 0, 0, 0});
  constexpr int kZero = 16;  // index of the second operand's first byte
  return reinterpret_cast<Lanes4>(__builtin_shufflevector(bytes, Bytes16{}, 0, kZero, kZero, kZero,
                                                          1, kZero, kZero, kZero, 2, kZero, kZero,
                                                          kZero, 3, kZero, kZero, kZero));
}

[[gnu::always_inline]] inline Lanes8 load8(const Byte* p) {
  return Lanes8{p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]};
}

[[gnu::always_inline]] inline Byte rounded(std::int32_t sum) {
  return static_cast<Byte>(std::clamp(sum >> kWeightBits, 0, 255));
}

[[gnu::always_inline]] inline void across_gray(const Byte* row, const Taps& taps, Byte* out) {
  for (const Taps::Span& span : taps.spans) {
    const Byte* p = row + span.first;
    const std::int32_t* weight = taps.weights.data() + span.at;
    Lanes8 lanes{};
    int x = 0;
    for (; x + kLanes <= span.count; x += kLanes) {
      Lanes8 w;
      std::memcpy(&w, weight + x, sizeof(w));
      lanes += w * load8(p + x);
    }
    std::int32_t sum = kHalf;
    for (int i = 0; i < kLanes; ++i) sum += lanes[i];
    for (; x < span.count; ++x) sum += weight[x] * p[x];
    *out++ = rounded(sum);
  }
}

// Reads three bytes a pixel, or four if `may_read_on`; the fourth is ignored.
[[gnu::always_inline]] inline void across_rgb(const Byte* row, const Taps& taps, bool may_read_on,
                                              Byte* out) {
  for (const Taps::Span& span : taps.spans) {
    const Byte* p = row + static_cast<std::ptrdiff_t>(span.first) * 3;
    const std::int32_t* weight = taps.weights.data() + span.at;
    Lanes4 sum = {kHalf, kHalf, kHalf, kHalf};
    for (int x = 0; x < span.count; ++x, p += 3) {
      if (may_read_on) {
        sum += weight[x] * load4(p);
      } else {
        sum += weight[x] * Lanes4{p[0], p[1], p[2], 0};
      }
    }
    for (int c = 0; c < 3; ++c) *out++ = rounded(sum[c]);
  }
}

[[gnu::always_inline]] inline void across_rows(ImageView in, const Taps& taps, Rows out) {
  Byte* to = out.data;
  const std::ptrdiff_t step = static_cast<std::ptrdiff_t>(out.width_px) * out.channels;
  for (int y = 0; y < in.height_px; ++y, to += step) {
    if (in.channels == 1) {
      across_gray(in.row(y), taps, to);
    } else {
      across_rgb(in.row(y), taps, y + 1 < in.height_px, to);
    }
  }
}

[[gnu::always_inline]] inline void down_columns(ImageView in, const Taps& taps, Rows out) {
  constexpr std::ptrdiff_t kBlock = 512;
  const std::ptrdiff_t line = static_cast<std::ptrdiff_t>(in.width_px) * in.channels;
  Byte* to = out.data;
  for (const Taps::Span& span : taps.spans) {
    const std::int32_t* weight = taps.weights.data() + span.at;
    for (std::ptrdiff_t begin = 0; begin < line; begin += kBlock) {
      const std::ptrdiff_t count = std::min(kBlock, line - begin);
      std::int32_t sum[kBlock];
      std::fill_n(sum, count, kHalf);
      for (int i = 0; i < span.count; ++i) {
        const Byte* p = in.row(span.first + i) + begin;
        for (std::ptrdiff_t x = 0; x < count; ++x) sum[x] += weight[i] * p[x];
      }
      for (std::ptrdiff_t x = 0; x < count; ++x) to[begin + x] = rounded(sum[x]);
    }
    to += line;
  }
}

[[gnu::always_inline]] inline Byte luma_of(const Byte* rgb) {
  return static_cast<Byte>((19595 * rgb[0] + 38470 * rgb[1] + 7471 * rgb[2] + 32768) >> 16);
}

[[gnu::always_inline]] inline void mix_gray(ImageView in, Rows out) {
  Byte* to = out.data;
  for (int y = 0; y < in.height_px; ++y) {
    const Byte* p = in.row(y);
    for (int x = 0; x < in.width_px; ++x) to[x] = luma_of(p + 3 * x);
    to += in.width_px;
  }
}

// Weights for the vertical pass, for any number of channels.
constexpr int kAnyChannels = 0;

struct Loops {
  int gray_block;  // taps multiplied at once
  int down_block;
  Taps (*taps)(const Axis&, int block, ResampleFilter);
  void (*prepare)(Taps&, int channels);
  void (*across)(ImageView, const Taps&, Rows);
  void (*down)(ImageView, const Taps&, Rows);
  void (*gray)(ImageView, Rows);
};

Taps make_taps_base(const Axis& axis, int block, ResampleFilter filter) {
  return make_taps(axis, block, filter);
}
void prepare_base(Taps&, int) {}
void across_rows_base(ImageView in, const Taps& taps, Rows out) { across_rows(in, taps, out); }
void down_columns_base(ImageView in, const Taps& taps, Rows out) { down_columns(in, taps, out); }
void mix_gray_base(ImageView in, Rows out) { mix_gray(in, out); }

constexpr Loops kBaseLoops{
    8, 1, make_taps_base, prepare_base, across_rows_base, down_columns_base, mix_gray_base};

#if defined(__x86_64__)
[[gnu::target("avx2")]] Taps make_taps_avx2(const Axis& axis, int block, ResampleFilter filter) {
  return make_taps(axis, block, filter);
}
[[gnu::target("avx512f")]] Taps make_taps_avx512(const Axis& axis, int block,
                                                 ResampleFilter filter) {
  return make_taps(axis, block, filter);
}

// With AVX2 a weight is split into w = low + high * 2^11, so that 16 products of 16 bits are made
// and added in pairs at once. Overflows of 32 bits on the way cancel out in the sum. Four rows are
// processed together. GCC 12 cannot generate this from plain loops.
constexpr int kLowBits = 11;
constexpr int kRows = 4;

// `repeat` lanes for two consecutive weights: 1 for gray, 4 (R, G, B and padding) for RGB.
std::vector<Halves> halve(const std::vector<std::int32_t>& weights, std::size_t repeat) {
  const std::size_t block = 16 / repeat;
  std::vector<Halves> blocks(weights.size() / block);
  for (std::size_t i = 0; i < blocks.size() * 16; ++i) {
    const std::size_t pair = i / (2 * repeat);
    const std::int32_t weight = weights[2 * pair + i % 2];
    constexpr std::int32_t kMiddle = 1 << (kLowBits - 1);
    const std::int32_t high = (weight + kMiddle) >> kLowBits;
    blocks[i / 16].low[i % 16] = static_cast<std::int16_t>(weight - (high << kLowBits));
    blocks[i / 16].high[i % 16] = static_cast<std::int16_t>(high);
  }
  return blocks;
}

// Four consecutive rows of an image; the last row may be repeated. With `tail`, a copy of the last
// row, each may be read 4 bytes beyond its end.
using RowGroup = std::array<const Byte*, kRows>;
RowGroup rows_at(ImageView in, int y, const Byte* tail) {
  RowGroup rows{};
  for (int i = 0; i < kRows; ++i) {
    const int row = std::min(y + i, in.height_px - 1);
    rows[static_cast<std::size_t>(i)] =
        tail != nullptr && row == in.height_px - 1 ? tail : in.row(row);
  }
  return rows;
}

using OutGroup = std::array<Byte*, kRows>;
OutGroup out_at(Rows out, int y) {
  OutGroup rows{};
  const std::ptrdiff_t line = static_cast<std::ptrdiff_t>(out.width_px) * out.channels;
  for (int i = 0; i < kRows; ++i) {
    rows[static_cast<std::size_t>(i)] = out.data + std::min(y + i, out.height_px - 1) * line;
  }
  return rows;
}

[[gnu::target("avx2"), gnu::always_inline]] inline __m256i aligned(const std::int16_t* p) {
  return _mm256_load_si256(reinterpret_cast<const __m256i*>(p));
}
[[gnu::target("avx2"), gnu::always_inline]] inline __m256i joined(__m256i low, __m256i high) {
  return _mm256_add_epi32(low, _mm256_slli_epi32(high, kLowBits));
}
// Rounds to 8 bits, in the lowest bytes.
[[gnu::target("avx2"), gnu::always_inline]] inline std::uint32_t rounded4(__m128i sums) {
  const __m128i shifted = _mm_srai_epi32(_mm_add_epi32(sums, _mm_set1_epi32(kHalf)), kWeightBits);
  const __m128i words = _mm_packs_epi32(shifted, shifted);
  return static_cast<std::uint32_t>(_mm_cvtsi128_si32(_mm_packus_epi16(words, words)));
}

// The same for the sum within each of four vectors.
[[gnu::target("avx2"), gnu::always_inline]] inline std::uint32_t rounded_rows(__m256i a, __m256i b,
                                                                              __m256i c,
                                                                              __m256i d) {
  const __m256i four = _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));
  return rounded4(_mm_add_epi32(_mm256_castsi256_si128(four), _mm256_extracti128_si256(four, 1)));
}

[[gnu::target("avx2")]] void across_gray_avx2(ImageView in, const Taps& taps, Rows out) {
  for (int y = 0; y < in.height_px; y += kRows) {
    const RowGroup rows = rows_at(in, y, nullptr);
    const OutGroup to = out_at(out, y);
    for (std::size_t i = 0; i < taps.spans.size(); ++i) {
      const Taps::Span& span = taps.spans[i];
      const Halves* half = taps.halves.data() + span.at / 16;
      __m256i low[kRows] = {};
      __m256i high[kRows] = {};
      for (int x = 0; x < span.count; x += 16, ++half) {
        const __m256i low_weights = aligned(half->low);
        const __m256i high_weights = aligned(half->high);
        for (std::size_t r = 0; r < kRows; ++r) {
          const __m256i pixels = _mm256_cvtepu8_epi16(
              _mm_loadu_si128(reinterpret_cast<const __m128i*>(rows[r] + span.first + x)));
          low[r] = _mm256_add_epi32(low[r], _mm256_madd_epi16(pixels, low_weights));
          high[r] = _mm256_add_epi32(high[r], _mm256_madd_epi16(pixels, high_weights));
        }
      }
      const std::uint32_t bytes = rounded_rows(joined(low[0], high[0]), joined(low[1], high[1]),
                                               joined(low[2], high[2]), joined(low[3], high[3]));
      for (std::size_t r = 0; r < kRows; ++r) to[r][i] = static_cast<Byte>(bytes >> (8 * r));
    }
  }
}

// With VNNI a weight is split into three digits of 8 bits, and four products of 8 bits are added at
// once. `repeat`: how often a block has each weight.
std::vector<Digits> cut_into_digits(const std::vector<std::int32_t>& weights, std::size_t repeat) {
  const std::size_t block = 16 / repeat;
  std::vector<Digits> blocks(weights.size() / block);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    std::int32_t rest = weights[i];
    for (auto& digits : blocks[i / block].digits) {
      const auto digit = static_cast<std::int8_t>(rest & 255);
      for (std::size_t at = i % block; at < 16; at += block) digits[at] = digit;
      rest = (rest - digit) >> 8;
    }
  }
  return blocks;
}

// Sixteen bytes of each row.
[[gnu::target("avx512f"), gnu::always_inline]] inline __m512i four_rows(const RowGroup& rows,
                                                                        std::ptrdiff_t x) {
  const auto load = [](const Byte* p) __attribute__((target("avx512f"), always_inline)) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  };
  __m512i bytes = _mm512_castsi128_si512(load(rows[0] + x));
  bytes = _mm512_inserti32x4(bytes, load(rows[1] + x), 1);
  bytes = _mm512_inserti32x4(bytes, load(rows[2] + x), 2);
  return _mm512_inserti32x4(bytes, load(rows[3] + x), 3);
}

// Sums of products with each digit of the weights.
struct DigitSums {
  __m512i low;
  __m512i middle;
  __m512i high;
};
[[gnu::target("avx512f,avx512vnni"), gnu::always_inline]] inline void add_products(
    __m512i pixels, const Digits& block, DigitSums& sums) {
  const auto weights = [&](std::size_t i) __attribute__((target("avx512f"), always_inline)) {
    return _mm512_broadcast_i32x4(
        _mm_load_si128(reinterpret_cast<const __m128i*>(block.digits[i].data())));
  };
  sums.low = _mm512_dpbusd_epi32(sums.low, pixels, weights(0));
  sums.middle = _mm512_dpbusd_epi32(sums.middle, pixels, weights(1));
  sums.high = _mm512_dpbusd_epi32(sums.high, pixels, weights(2));
}
[[gnu::target("avx512f"), gnu::always_inline]] inline __m512i joined(const DigitSums& sums) {
  const __m512i upper = _mm512_add_epi32(sums.middle, _mm512_slli_epi32(sums.high, 8));
  return _mm512_add_epi32(sums.low, _mm512_slli_epi32(upper, 8));
}
[[gnu::target("avx512f"), gnu::always_inline]] inline __m512i shifted(__m512i sums) {
  return _mm512_srai_epi32(_mm512_add_epi32(sums, _mm512_set1_epi32(kHalf)), kWeightBits);
}
// Rounds sixteen sums to 8 bits.
[[gnu::target("avx512f"), gnu::always_inline]] inline __m128i rounded16(__m512i sums) {
  return _mm512_cvtusepi32_epi8(_mm512_max_epi32(shifted(sums), _mm512_setzero_si512()));
}

// Four partial sums for one output of each row.
[[gnu::target("avx512f,avx512vnni"), gnu::always_inline]] inline __m512i sums_vnni(
    const RowGroup& rows, const Taps::Span& span, const Digits* block) {
  DigitSums sums{};
  const std::ptrdiff_t end = span.first + span.count;
  for (std::ptrdiff_t x = span.first; x < end; x += 16, ++block) {
    add_products(four_rows(rows, x), *block, sums);
  }
  return joined(sums);
}

[[gnu::target("avx512f,avx512vnni")]] void across_gray_vnni(ImageView in, const Taps& taps,
                                                            Rows out) {
  const auto fold32 = [](__m512i a, __m512i b) __attribute__((target("avx512f"), always_inline)) {
    return _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
  };
  const auto& spans = taps.spans;
  for (int y = 0; y < in.height_px; y += kRows) {
    const RowGroup rows = rows_at(in, y, nullptr);
    const OutGroup to = out_at(out, y);
    for (std::size_t i = 0; i < spans.size(); i += 4) {
      const auto sums = [&](std::size_t k)
          __attribute__((target("avx512f,avx512vnni"), always_inline)) {
        constexpr Taps::Span kNone{0, 0, 0};
        const Taps::Span& span = i + k < spans.size() ? spans[i + k] : kNone;
        return sums_vnni(rows, span, taps.digits.data() + span.at / 16);
      };
      const __m512i left = fold32(sums(0), sums(1));
      const __m512i right = fold32(sums(2), sums(3));
      const __m512i whole =
          _mm512_add_epi32(_mm512_unpacklo_epi64(left, right), _mm512_unpackhi_epi64(left, right));
      const __m128i bytes = rounded16(whole);
      const std::array<int, kRows> fours{_mm_extract_epi32(bytes, 0), _mm_extract_epi32(bytes, 1),
                                         _mm_extract_epi32(bytes, 2), _mm_extract_epi32(bytes, 3)};
      const std::size_t count = std::min<std::size_t>(4, taps.spans.size() - i);
      for (std::size_t r = 0; r < kRows; ++r) {
        if (count == 4) {
          std::memcpy(to[r] + i, &fours[r], 4);
        } else {
          std::memcpy(to[r] + i, &fours[r], count);
        }
      }
    }
  }
}

// A copy of the last row that can be read beyond its end.
std::vector<Byte> tail_of(ImageView in) {
  const std::size_t line = static_cast<std::size_t>(in.width_px) * 3;
  std::vector<Byte> tail(line + 4);
  std::memcpy(tail.data(), in.row(in.height_px - 1), line);
  return tail;
}

// Stores one RGB pixel of each row. The fourth byte belongs to the next pixel, which is written
// later, except at the end of a row.
[[gnu::always_inline]] inline void put_pixels(const std::array<int, kRows>& pixels, bool is_last,
                                              OutGroup& to) {
  for (std::size_t r = 0; r < kRows; ++r) {
    if (is_last) {
      std::memcpy(to[r], &pixels[r], 3);
    } else {
      std::memcpy(to[r], &pixels[r], 4);
    }
    to[r] += 3;
  }
}

[[gnu::target("avx512f,avx512bw,avx512vnni")]] void across_rgb_vnni(ImageView in, const Taps& taps,
                                                                    Rows out) {
  const std::vector<Byte> tail = tail_of(in);
  // Four pixels (twelve bytes), regrouped by channel.
  const __m512i by_channel =
      _mm512_broadcast_i32x4(_mm_setr_epi8(0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11, -1, -1, -1, -1));
  for (int y = 0; y < in.height_px; y += kRows) {
    const RowGroup rows = rows_at(in, y, tail.data());
    OutGroup to = out_at(out, y);
    for (const Taps::Span& span : taps.spans) {
      const Digits* block = taps.digits.data() + span.at / 4;
      DigitSums sums{};
      const std::ptrdiff_t end = std::ptrdiff_t{3} * (span.first + span.count);
      for (std::ptrdiff_t x = std::ptrdiff_t{3} * span.first; x < end; x += 12, ++block) {
        add_products(_mm512_shuffle_epi8(four_rows(rows, x), by_channel), *block, sums);
      }
      const __m128i bytes = rounded16(joined(sums));
      put_pixels({_mm_extract_epi32(bytes, 0), _mm_extract_epi32(bytes, 1),
                  _mm_extract_epi32(bytes, 2), _mm_extract_epi32(bytes, 3)},
                 &span == &taps.spans.back(), to);
    }
  }
}

[[gnu::target("avx2")]] void across_rgb_avx2(ImageView in, const Taps& taps, Rows out) {
  const std::vector<Byte> tail = tail_of(in);
  // Pixels 0 and 1 in the lower half, 2 and 3 in the upper, regrouped by channel, as 16 bits.
  const __m256i pairs =
      _mm256_setr_epi8(0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1, 6, -1, 9, -1, 7,
                       -1, 10, -1, 8, -1, 11, -1, -1, -1, -1, -1);
  struct Sums {
    __m256i low;
    __m256i high;
  };
  const auto add = [pairs](const Byte* p, __m256i low_weights, __m256i high_weights, Sums& sums)
      __attribute__((target("avx2"), always_inline)) {
    const __m256i pixels = _mm256_shuffle_epi8(
        _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))), pairs);
    sums.low = _mm256_add_epi32(sums.low, _mm256_madd_epi16(pixels, low_weights));
    sums.high = _mm256_add_epi32(sums.high, _mm256_madd_epi16(pixels, high_weights));
  };
  // Two rows, each in its half.
  const auto rounded_pair =
      [](const Sums& a, const Sums& b) __attribute__((target("avx2"), always_inline)) {
    const __m256i one = joined(a.low, a.high);
    const __m256i other = joined(b.low, b.high);
    const __m256i sums = _mm256_add_epi32(_mm256_permute2x128_si256(one, other, 0x20),
                                          _mm256_permute2x128_si256(one, other, 0x31));
    return _mm256_srai_epi32(sums, kWeightBits);
  };
  const __m256i half_once = _mm256_setr_epi32(kHalf, kHalf, kHalf, kHalf, 0, 0, 0, 0);
  for (int y = 0; y < in.height_px; y += kRows) {
    const auto [row0, row1, row2, row3] = rows_at(in, y, tail.data());
    OutGroup to = out_at(out, y);
    for (const Taps::Span& span : taps.spans) {
      const Halves* half = taps.halves.data() + span.at / 4;
      Sums sums0{half_once, {}};
      Sums sums1 = sums0;
      Sums sums2 = sums0;
      Sums sums3 = sums0;
      const std::ptrdiff_t end = std::ptrdiff_t{3} * (span.first + span.count);
      for (std::ptrdiff_t x = std::ptrdiff_t{3} * span.first; x < end; x += 12, ++half) {
        const __m256i low = aligned(half->low);
        const __m256i high = aligned(half->high);
        add(row0 + x, low, high, sums0);
        add(row1 + x, low, high, sums1);
        add(row2 + x, low, high, sums2);
        add(row3 + x, low, high, sums3);
      }
      const __m256i words =
          _mm256_packs_epi32(rounded_pair(sums0, sums1), rounded_pair(sums2, sums3));
      const __m256i bytes = _mm256_packus_epi16(words, words);
      const __m128i even = _mm256_castsi256_si128(bytes);
      const __m128i odd = _mm256_extracti128_si256(bytes, 1);
      put_pixels({_mm_extract_epi32(even, 0), _mm_extract_epi32(odd, 0), _mm_extract_epi32(even, 1),
                  _mm_extract_epi32(odd, 1)},
                 &span == &taps.spans.back(), to);
    }
  }
}

void prepare_avx2(Taps& taps, int channels) {
  if (taps.whole_blocks && channels != kAnyChannels) {
    taps.halves = halve(taps.weights, channels == 1 ? 1 : 4);
  }
}
void prepare_vnni(Taps& taps, int channels) {
  if (taps.whole_blocks) taps.digits = cut_into_digits(taps.weights, channels == 1 ? 1 : 4);
}

[[gnu::target("avx2")]] void across_rows_avx2(ImageView in, const Taps& taps, Rows out) {
  if (!taps.whole_blocks) {
    across_rows(in, taps, out);
  } else if (in.channels == 1) {
    across_gray_avx2(in, taps, out);
  } else {
    across_rgb_avx2(in, taps, out);
  }
}

void across_rows_vnni(ImageView in, const Taps& taps, Rows out) {
  if (!taps.whole_blocks) {
    across_rows_avx2(in, taps, out);
  } else if (in.channels == 1) {
    across_gray_vnni(in, taps, out);
  } else {
    across_rgb_vnni(in, taps, out);
  }
}

[[gnu::target("avx2"), gnu::always_inline]] inline __m256i load8_avx2(const Byte* p) {
  return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
}

// Sixteen columns at once, with sums in registers.
[[gnu::target("avx2")]] void down_columns_avx2(ImageView in, const Taps& taps, Rows out) {
  const std::ptrdiff_t line = static_cast<std::ptrdiff_t>(in.width_px) * in.channels;
  Byte* to = out.data;
  for (const Taps::Span& span : taps.spans) {
    const std::int32_t* weight = taps.weights.data() + span.at;
    std::ptrdiff_t x = 0;
    for (; x + 16 <= line; x += 16) {
      __m256i left = _mm256_set1_epi32(kHalf);
      __m256i right = left;
      for (int i = 0; i < span.count; ++i) {
        const Byte* p = in.row(span.first + i) + x;
        const __m256i w = _mm256_set1_epi32(weight[i]);
        left = _mm256_add_epi32(left, _mm256_mullo_epi32(w, load8_avx2(p)));
        right = _mm256_add_epi32(right, _mm256_mullo_epi32(w, load8_avx2(p + 8)));
      }
      const __m256i words =
          _mm256_permute4x64_epi64(_mm256_packs_epi32(_mm256_srai_epi32(left, kWeightBits),
                                                      _mm256_srai_epi32(right, kWeightBits)),
                                   0xD8);
      _mm_storeu_si128(
          reinterpret_cast<__m128i*>(to + x),
          _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1)));
    }
    for (; x + 8 <= line; x += 8) {
      __m256i sums = _mm256_set1_epi32(kHalf);
      for (int i = 0; i < span.count; ++i) {
        const __m256i w = _mm256_set1_epi32(weight[i]);
        sums =
            _mm256_add_epi32(sums, _mm256_mullo_epi32(w, load8_avx2(in.row(span.first + i) + x)));
      }
      const __m256i shifted = _mm256_srai_epi32(sums, kWeightBits);
      const __m128i words =
          _mm_packs_epi32(_mm256_castsi256_si128(shifted), _mm256_extracti128_si256(shifted, 1));
      _mm_storel_epi64(reinterpret_cast<__m128i*>(to + x), _mm_packus_epi16(words, words));
    }
    for (; x < line; ++x) {
      std::int32_t sum = kHalf;
      for (int i = 0; i < span.count; ++i) sum += weight[i] * in.row(span.first + i)[x];
      to[x] = rounded(sum);
    }
    to += line;
  }
}

// Sixty-four columns at once; the last ones may be computed twice.
[[gnu::target("avx512f,avx512bw,avx512vnni")]] void down_columns_vnni(ImageView in,
                                                                      const Taps& taps, Rows out) {
  constexpr std::ptrdiff_t kColumns = 64;
  const std::ptrdiff_t line = static_cast<std::ptrdiff_t>(in.width_px) * in.channels;
  if (line < kColumns || !taps.whole_blocks) return down_columns_avx2(in, taps, out);
  Byte* to = out.data;
  for (const Taps::Span& span : taps.spans) {
    const Digits* const blocks = taps.digits.data() + span.at / 4;
    for (std::ptrdiff_t begin = 0; begin < line; begin += kColumns) {
      const std::ptrdiff_t x = std::min(begin, line - kColumns);
      DigitSums sums[4]{};
      for (int i = 0; i < span.count; i += 4) {
        const auto row = [&](int k) __attribute__((target("avx512f"), always_inline)) {
          return _mm512_loadu_si512(in.row(span.first + i + k) + x);
        };
        // Interleaves four bytes of each column.
        const __m512i left = _mm512_unpacklo_epi8(row(0), row(1));
        const __m512i right = _mm512_unpackhi_epi8(row(0), row(1));
        const __m512i next_left = _mm512_unpacklo_epi8(row(2), row(3));
        const __m512i next_right = _mm512_unpackhi_epi8(row(2), row(3));
        const Digits& block = blocks[i / 4];
        add_products(_mm512_unpacklo_epi16(left, next_left), block, sums[0]);
        add_products(_mm512_unpackhi_epi16(left, next_left), block, sums[1]);
        add_products(_mm512_unpacklo_epi16(right, next_right), block, sums[2]);
        add_products(_mm512_unpackhi_epi16(right, next_right), block, sums[3]);
      }
      const auto words = [&](int k) __attribute__((target("avx512f,avx512bw"), always_inline)) {
        return _mm512_packs_epi32(shifted(joined(sums[k])), shifted(joined(sums[k + 1])));
      };
      _mm512_storeu_si512(to + x, _mm512_packus_epi16(words(0), words(2)));
    }
    to += line;
  }
}

// Eight pixels at once, as 16-bit pairs R, G and G, B, with half of G's weight in each.
[[gnu::target("avx2")]] void mix_gray_avx2(ImageView in, Rows out) {
  static_assert(38470 % 2 == 0);
  const __m256i red_green =
      _mm256_setr_epi8(0, -1, 1, -1, 3, -1, 4, -1, 6, -1, 7, -1, 9, -1, 10, -1, 0, -1, 1, -1, 3, -1,
                       4, -1, 6, -1, 7, -1, 9, -1, 10, -1);
  const __m256i green_blue =
      _mm256_setr_epi8(1, -1, 2, -1, 4, -1, 5, -1, 7, -1, 8, -1, 10, -1, 11, -1, 1, -1, 2, -1, 4,
                       -1, 5, -1, 7, -1, 8, -1, 10, -1, 11, -1);
  const __m256i red_green_weights = _mm256_set1_epi32(38470 / 2 << 16 | 19595);
  const __m256i green_blue_weights = _mm256_set1_epi32(7471 << 16 | 38470 / 2);
  const auto four_twice = [](const Byte* p) __attribute__((target("avx2"), always_inline)) {
    return _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))),
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 12)), 1);
  };
  Byte* to = out.data;
  for (int y = 0; y < in.height_px; ++y, to += in.width_px) {
    const Byte* p = in.row(y);
    int x = 0;
    for (; x + 10 <= in.width_px; x += 8) {  // 28 bytes are read
      const __m256i pixels = four_twice(p + 3 * x);
      const __m256i sums = _mm256_add_epi32(
          _mm256_madd_epi16(_mm256_shuffle_epi8(pixels, red_green), red_green_weights),
          _mm256_madd_epi16(_mm256_shuffle_epi8(pixels, green_blue), green_blue_weights));
      const __m256i luma = _mm256_srli_epi32(_mm256_add_epi32(sums, _mm256_set1_epi32(32768)), 16);
      const __m128i words =
          _mm_packus_epi32(_mm256_castsi256_si128(luma), _mm256_extracti128_si256(luma, 1));
      _mm_storel_epi64(reinterpret_cast<__m128i*>(to + x), _mm_packus_epi16(words, words));
    }
    for (; x < in.width_px; ++x) to[x] = luma_of(p + 3 * x);
  }
}

// Sixteen pixels at once, as R, G, G, B, with half of G's weight in each. Weights are split into
// two digits of 8 bits.
[[gnu::target("avx512f,avx512vbmi,avx512vnni")]] void mix_gray_vnni(ImageView in, Rows out) {
  static_assert(77 * 256 - 117 == 19595 && 2 * (75 * 256 + 35) == 38470 && 29 * 256 + 47 == 7471);
  const auto four = [](int a, int b, int c, int d) {
    return static_cast<int>(
        static_cast<std::uint32_t>(a & 255) | static_cast<std::uint32_t>(b & 255) << 8 |
        static_cast<std::uint32_t>(c & 255) << 16 | static_cast<std::uint32_t>(d & 255) << 24);
  };
  alignas(64) int places[16];
  for (int i = 0; i < 16; ++i) places[i] = four(3 * i, 3 * i + 1, 3 * i + 1, 3 * i + 2);
  const __m512i spread = _mm512_load_si512(places);
  const __m512i low_weights = _mm512_set1_epi32(four(-117, 35, 35, 47));
  const __m512i high_weights = _mm512_set1_epi32(four(77, 75, 75, 29));
  // Contiguous rows are treated as one long row.
  const bool one_row = in.row_stride_bytes == static_cast<std::ptrdiff_t>(in.width_px) * 3;
  const std::ptrdiff_t width =
      static_cast<std::ptrdiff_t>(in.width_px) * (one_row ? in.height_px : 1);
  const int height = one_row ? 1 : in.height_px;
  Byte* to = out.data;
  for (int y = 0; y < height; ++y, to += width) {
    const Byte* p = in.row(y);
    std::ptrdiff_t x = 0;
    for (; x + 22 <= width; x += 16) {  // 64 bytes are read
      const __m512i pixels = _mm512_permutexvar_epi8(spread, _mm512_loadu_si512(p + 3 * x));
      const __m512i low = _mm512_dpbusd_epi32(_mm512_set1_epi32(32768), pixels, low_weights);
      const __m512i high = _mm512_dpbusd_epi32(_mm512_setzero_si512(), pixels, high_weights);
      const __m512i sums = _mm512_add_epi32(low, _mm512_slli_epi32(high, 8));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + x),
                       _mm512_cvtepi32_epi8(_mm512_srli_epi32(sums, 16)));
    }
    for (; x < width; ++x) to[x] = luma_of(p + 3 * x);
  }
}

Loops best_loops() {
  const Simd simd = widest_simd();
  if (simd < Simd::kAvx2) return kBaseLoops;
  Loops loops{16,           1, make_taps_avx2, prepare_avx2, across_rows_avx2, down_columns_avx2,
              mix_gray_avx2};
  if (simd < Simd::kAvx512) return loops;
  loops.taps = make_taps_avx512;
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vnni")) {
    loops.down_block = 4;
    loops.prepare = prepare_vnni;
    loops.across = across_rows_vnni;
    loops.down = down_columns_vnni;
    if (__builtin_cpu_supports("avx512vbmi")) loops.gray = mix_gray_vnni;
  }
  return loops;
}
#else
Loops best_loops() { return kBaseLoops; }
#endif

// The parameters that determine weights.
struct Shape {
  Axis axis;
  int channels;
  ResampleFilter filter;
  friend bool operator==(const Shape&, const Shape&) = default;
};

Taps taps_of(const Loops& loops, const Shape& shape) {
  const int block = shape.channels == kAnyChannels ? loops.down_block
                    : shape.channels == 1          ? loops.gray_block
                                                   : kRgbBlock;
  Taps taps = loops.taps(shape.axis, block, shape.filter);
  loops.prepare(taps, shape.channels);
  return taps;
}

std::size_t bytes_of(const Taps& taps) {
  return taps.spans.capacity() * sizeof(Taps::Span) +
         taps.weights.capacity() * sizeof(std::int32_t) + taps.halves.capacity() * sizeof(Halves) +
         taps.digits.capacity() * sizeof(Digits);
}

void copy_rows(ImageView image, Byte* to) {
  const std::size_t line =
      static_cast<std::size_t>(image.width_px) * static_cast<std::size_t>(image.channels);
  for (int y = 0; y < image.height_px; ++y, to += line) std::memcpy(to, image.row(y), line);
}

Region whole(int height_px, int width_px) {
  return {0, 0, static_cast<double>(height_px), static_cast<double>(width_px)};
}

Rows rows_of(Image& image) {
  return {image.pixels.data(), image.height_px, image.width_px, image.channels};
}

void resize_to(ImageView image, const Region& region, ResampleFilter filter, bool mirrored,
               Rows out) {
  const Loops loops = best_loops();
  const Axis down{image.height_px, region.top, region.height, out.height_px};
  const Axis across{image.width_px, region.left, region.width, out.width_px};
  const auto go_down = [&](ImageView in) {
    if (down.is_kept()) return copy_rows(in, out.data);
    loops.down(in, taps_of(loops, {down, kAnyChannels, filter}), out);
  };
  if (across.is_kept() && !mirrored) return go_down(image);
  // Trivial if the width is unchanged.
  Taps taps = taps_of(loops, {across, image.channels, filter});
  if (mirrored) std::ranges::reverse(taps.spans);
  if (down.is_kept()) return loops.across(image, taps, out);
  const std::ptrdiff_t line = std::ptrdiff_t{out.width_px} * image.channels;
  const auto half = std::make_unique_for_overwrite<Byte[]>(
      static_cast<std::size_t>(line) * static_cast<std::size_t>(image.height_px));
  loops.across(image, taps, {half.get(), image.height_px, out.width_px, image.channels});
  go_down({half.get(), image.height_px, out.width_px, image.channels, line});
}

}  // namespace

struct ResampleWeights::State {
  struct Kept {
    Shape shape;
    std::shared_ptr<const Taps> taps;
  };

  static std::shared_ptr<const Taps> find(ResampleWeights* weights, const Loops& loops,
                                          const Shape& shape) {
    if (weights == nullptr) return std::make_shared<const Taps>(taps_of(loops, shape));
    State& s = *weights->state_;
    const auto found = std::ranges::find(s.kept, shape, &Kept::shape);
    if (found != s.kept.end()) return found->taps;
    s.kept.push_back({shape, std::make_shared<const Taps>(taps_of(loops, shape))});
    const auto taps = s.kept.back().taps;
    s.bytes += bytes_of(*taps);
    while (s.bytes > kMostBytes) {
      s.bytes -= bytes_of(*s.kept.front().taps);
      s.kept.pop_front();
    }
    return taps;
  }

 private:
  static constexpr std::size_t kMostBytes = 1 << 20;
  std::deque<Kept> kept;
  std::size_t bytes = 0;
};

ResampleWeights::ResampleWeights() : state_(std::make_unique<State>()) {}
ResampleWeights::ResampleWeights(ResampleWeights&&) noexcept = default;
ResampleWeights& ResampleWeights::operator=(ResampleWeights&&) noexcept = default;
ResampleWeights::~ResampleWeights() = default;

struct RowResizer::State {
  Loops loops = best_loops();
  std::shared_ptr<const Taps> across;  // null if the width is unchanged
  std::shared_ptr<const Taps> down;    // null if the height is unchanged
  int to_height_px;
  Image half;  // already of the new width
  int rows = 0;
};

RowResizer::RowResizer(const Sizes& sizes, ResampleFilter filter, ResampleWeights* weights)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.to_height_px = sizes.to_height_px;
  const Region region = sizes.region.value_or(whole(sizes.height_px, sizes.width_px));
  const auto taps = [&](const Axis& axis, int for_channels) {
    return axis.is_kept()
               ? nullptr
               : ResampleWeights::State::find(weights, s.loops, {axis, for_channels, filter});
  };
  s.across = taps({sizes.width_px, region.left, region.width, sizes.to_width_px}, sizes.channels);
  s.down = taps({sizes.height_px, region.top, region.height, sizes.to_height_px}, kAnyChannels);
  s.half = Image(sizes.height_px, sizes.to_width_px, sizes.channels);
}
RowResizer::RowResizer(RowResizer&&) noexcept = default;
RowResizer::~RowResizer() = default;

void RowResizer::add(ImageView rows) {
  State& s = *state_;
  Image& half = s.half;
  const std::ptrdiff_t line = static_cast<std::ptrdiff_t>(half.width_px) * half.channels;
  const Rows to{half.pixels.data() + s.rows * line, rows.height_px, half.width_px, half.channels};
  if (s.across == nullptr) {
    copy_rows(rows, to.data);
  } else {
    s.loops.across(rows, *s.across, to);
  }
  s.rows += rows.height_px;
}

Image RowResizer::finish() {
  State& s = *state_;
  if (s.down == nullptr) return std::move(s.half);
  Image out(s.to_height_px, s.half.width_px, s.half.channels);
  s.loops.down(s.half.view(), *s.down, rows_of(out));
  return out;
}

Image resize(ImageView image, int height_px, int width_px, ResampleFilter filter) {
  return resize(image, whole(image.height_px, image.width_px), height_px, width_px, filter);
}

Image resize(ImageView image, const Region& region, int height_px, int width_px,
             ResampleFilter filter) {
  Image out(height_px, width_px, image.channels);
  resize_to(image, region, filter, false, rows_of(out));
  return out;
}

void resize(ImageView image, int height_px, int width_px, ResampleFilter filter, bool mirrored,
            std::uint8_t* out) {
  resize_to(image, whole(image.height_px, image.width_px), filter, mirrored,
            {out, height_px, width_px, image.channels});
}

Image to_gray(ImageView image) {
  Image out(image.height_px, image.width_px, 1);
  to_gray(image, out.pixels.data());
  return out;
}

void to_gray(ImageView image, std::uint8_t* out) {
  if (image.channels == 1) {
    copy_rows(image, out);
  } else {
    best_loops().gray(image, {out, image.height_px, image.width_px, 1});
  }
}

}  // namespace winnow
