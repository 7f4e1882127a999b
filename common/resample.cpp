#include "common/resample.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numbers>
#include <utility>

namespace winnow {
namespace {

constexpr int kWeightBits = 22;  // Pillow's PRECISION_BITS
constexpr int kTapBlock = 8;     // gray taps multiplied at once

// Each term of the series of sin(a) / a is the one before it times a^2 times this.
constexpr double sine_step(std::size_t n) {
  return -1.0 / static_cast<double>(2 * n * (2 * n + 1));
}

// sin(a) / a - 1 by sizeof...(kSteps) terms of the series, which unroll so that loops vectorise.
template <std::size_t... kSteps>
double sine_series(double a2, std::index_sequence<kSteps...>) {
  double sum = 0.0;
  ((sum = (sum + 1.0) * a2 * sine_step(sizeof...(kSteps) - kSteps)), ...);
  return sum;
}

double triangle(double x) {
  x = std::abs(x);
  return x < 1.0 ? 1.0 - x : 0.0;
}

// sinc(x) sinc(x / 3), where sinc(x) = sin(pi x) / (pi x), for |x| <= 3. From one sine s of pi x /
// 3, since sin(3a) = 3 sin(a) - 4 sin(a)^3; that sine by its Taylor series, because the last bit of
// the C library's depends on the machine. The error stays far below the last of a weight's 22 bits.
double lanczos3(double x) {
  const double y = std::abs(x) / 3;
  const double a = std::numbers::pi * std::min(y, 1.0 - y);  // sin(pi y) = sin(pi (1 - y))
  const double a2 = a * a;
  const double sum = sine_series(a2, std::make_index_sequence<11>());
  const double s2 = a2 * (1.0 + sum) * (1.0 + sum);
  const double product = s2 * (3.0 - 4.0 * s2) / (std::numbers::pi * std::numbers::pi * 3 * y * y);
  return y == 0.0 ? 1.0 : y <= 1.0 ? product : 0.0;
}

// For each output position of one axis: the inputs [first, first + count) and their weights.
struct Taps {
  struct Span {
    int first;
    int count;
    std::size_t at;  // of weights
  };
  std::vector<Span> spans;
  std::vector<std::int32_t> weights;
};

// `block`: spans are made whole multiples of it by zero weights, where the axis is long enough.
template <class Kernel>
Taps make_taps(int in, int out, int block, double kernel_support, Kernel kernel) {
  const double scale = static_cast<double>(in) / out;
  const double stretch = std::max(scale, 1.0);
  const double support = kernel_support * stretch;
  const double shrink = 1.0 / stretch;
  Taps taps;
  taps.spans.reserve(static_cast<std::size_t>(out));
  taps.weights.reserve(static_cast<std::size_t>(out) * (static_cast<std::size_t>(support) * 2 + 3 +
                                                        static_cast<std::size_t>(block)));
  std::vector<double> exact(static_cast<std::size_t>(support) * 2 + 3);
  for (int i = 0; i < out; ++i) {
    const double centre = (i + 0.5) * scale;
    const int first = std::max(static_cast<int>(centre - support + 0.5), 0);
    const int count = std::min(static_cast<int>(centre + support + 0.5), in) - first;
    double* const w = exact.data();
    for (int x = 0; x < count; ++x) w[x] = kernel((x + first - centre + 0.5) * shrink);
    double total = 0.0;
    for (int x = 0; x < count; ++x) total += w[x];
    // A span is moved left rather than read past the end of a row.
    int padded = (count + block - 1) / block * block;
    if (padded > in) padded = count;
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

Taps make_taps(int in, int out, int block, ResampleFilter filter) {
  if (filter == ResampleFilter::kBilinear) {
    return make_taps(in, out, block, 1.0, [](double x) { return triangle(x); });
  }
  return make_taps(in, out, block, 3.0, [](double x) { return lanczos3(x); });
}

// The loops below are integer arithmetic on vectors, so that every instruction set gives the same
// bits; they are inlined into one function per instruction set.
using Byte = std::uint8_t;
using Lanes8 [[gnu::vector_size(32)]] = std::int32_t;
using Lanes4 [[gnu::vector_size(16)]] = std::int32_t;
using Words4 [[gnu::vector_size(16)]] = std::uint32_t;
using Bytes16 [[gnu::vector_size(16)]] = Byte;
constexpr std::int32_t kHalf = 1 << (kWeightBits - 1);

// Written so that GCC makes one load and one shuffle of it.
[[gnu::always_inline]] inline Lanes4 load4(const Byte* p) {
  std::uint32_t four;
  std::memcpy(&four, p, sizeof(four));
  const auto bytes = reinterpret_cast<Bytes16>(Words4{four, 0, 0, 0});
  constexpr Byte kZero = 16;  // the first of the second operand
  return reinterpret_cast<Lanes4>(
      __builtin_shuffle(bytes, Bytes16{},
                        Bytes16{0, kZero, kZero, kZero, 1, kZero, kZero, kZero, 2, kZero, kZero,
                                kZero, 3, kZero, kZero, kZero}));
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
    for (; x + kTapBlock <= span.count; x += kTapBlock) {
      Lanes8 w;
      std::memcpy(&w, weight + x, sizeof(w));
      lanes += w * load8(p + x);
    }
    std::int32_t sum = kHalf;
    for (int i = 0; i < kTapBlock; ++i) sum += lanes[i];
    for (; x < span.count; ++x) sum += weight[x] * p[x];
    *out++ = rounded(sum);
  }
}

// Reads three bytes a pixel, or four, the last of them for nothing, where `may_read_on`.
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

[[gnu::always_inline]] inline void across_rows(ImageView in, const Taps& taps, Image& out) {
  Byte* to = out.pixels.data();
  const std::ptrdiff_t step = static_cast<std::ptrdiff_t>(out.width_px) * out.channels;
  for (int y = 0; y < in.height_px; ++y, to += step) {
    if (in.channels == 1) {
      across_gray(in.row(y), taps, to);
    } else {
      across_rgb(in.row(y), taps, y + 1 < in.height_px, to);
    }
  }
}

[[gnu::always_inline]] inline void down_columns(ImageView in, const Taps& taps, Image& out) {
  constexpr std::ptrdiff_t kBlock = 512;
  const std::ptrdiff_t line = static_cast<std::ptrdiff_t>(in.width_px) * in.channels;
  Byte* to = out.pixels.data();
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

[[gnu::always_inline]] inline void mix_gray(ImageView in, Image& out) {
  Byte* to = out.pixels.data();
  for (int y = 0; y < in.height_px; ++y) {
    const Byte* p = in.row(y);
    for (int x = 0; x < in.width_px; ++x) {
      to[x] = static_cast<Byte>(
          (19595 * p[3 * x] + 38470 * p[3 * x + 1] + 7471 * p[3 * x + 2] + 32768) >> 16);
    }
    to += in.width_px;
  }
}

struct Loops {
  void (*across)(ImageView, const Taps&, Image&);
  void (*down)(ImageView, const Taps&, Image&);
  void (*gray)(ImageView, Image&);
};

void across_rows_base(ImageView in, const Taps& taps, Image& out) { across_rows(in, taps, out); }
void down_columns_base(ImageView in, const Taps& taps, Image& out) { down_columns(in, taps, out); }
void mix_gray_base(ImageView in, Image& out) { mix_gray(in, out); }

#if defined(__x86_64__)
[[gnu::target("avx2")]] void across_rows_avx2(ImageView in, const Taps& taps, Image& out) {
  across_rows(in, taps, out);
}
[[gnu::target("avx2")]] void down_columns_avx2(ImageView in, const Taps& taps, Image& out) {
  down_columns(in, taps, out);
}
[[gnu::target("avx2")]] void mix_gray_avx2(ImageView in, Image& out) { mix_gray(in, out); }
Loops best_loops() {
  if (__builtin_cpu_supports("avx2")) return {across_rows_avx2, down_columns_avx2, mix_gray_avx2};
  return {across_rows_base, down_columns_base, mix_gray_base};
}
#else
Loops best_loops() { return {across_rows_base, down_columns_base, mix_gray_base}; }
#endif

Image packed(ImageView image) {
  Image out(image.height_px, image.width_px, image.channels);
  const std::size_t line =
      static_cast<std::size_t>(image.width_px) * static_cast<std::size_t>(image.channels);
  for (int y = 0; y < image.height_px; ++y) {
    std::memcpy(out.pixels.data() + static_cast<std::size_t>(y) * line, image.row(y), line);
  }
  return out;
}

}  // namespace

Image resize(ImageView image, int height_px, int width_px, ResampleFilter filter) {
  const Loops loops = best_loops();
  const bool wider = width_px != image.width_px;
  const bool taller = height_px != image.height_px;
  if (!wider && !taller) return packed(image);
  Image half;
  if (wider) {
    half = Image(image.height_px, width_px, image.channels);
    const int block = image.channels == 1 ? kTapBlock : 1;
    loops.across(image, make_taps(image.width_px, width_px, block, filter), half);
    if (!taller) return half;
    image = half.view();
  }
  Image out(height_px, width_px, image.channels);
  loops.down(image, make_taps(image.height_px, height_px, 1, filter), out);
  return out;
}

Image to_gray(ImageView image) {
  if (image.channels == 1) return packed(image);
  Image out(image.height_px, image.width_px, 1);
  best_loops().gray(image, out);
  return out;
}

}  // namespace winnow
