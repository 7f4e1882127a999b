#include "common/resample.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numbers>

namespace winnow {
namespace {

constexpr int kWeightBits = 22;  // Pillow's PRECISION_BITS
constexpr int kTapBlock = 8;     // taps are padded with zero weights to whole blocks where they fit

double triangle(double x) {
  x = std::abs(x);
  return x < 1.0 ? 1.0 - x : 0.0;
}

// sin(pi x) by its Taylor series: additions and multiplications only, because the last bit of the C
// library's sin depends on the machine. |x| <= 3; error below 1e-15.
double sin_pi(double x) {
  const double whole = std::floor(x + 0.5);
  const double t = std::numbers::pi * (x - whole);
  const double t2 = t * t;
  double sum = 0.0;
  for (int n = 25; n >= 3; n -= 2) sum = (1.0 + sum) * -t2 / (n * (n - 1));
  const double sine = t + t * sum;
  return std::fmod(whole, 2.0) == 0.0 ? sine : -sine;
}

double sinc(double x) { return x == 0.0 ? 1.0 : sin_pi(x) / (std::numbers::pi * x); }

double lanczos3(double x) { return -3.0 <= x && x < 3.0 ? sinc(x) * sinc(x / 3) : 0.0; }

struct Kernel {
  double (*value)(double);
  double support;
};

Kernel kernel_of(ResampleFilter filter) {
  return filter == ResampleFilter::kBilinear ? Kernel{triangle, 1.0} : Kernel{lanczos3, 3.0};
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

Taps make_taps(int in, int out, ResampleFilter filter) {
  const Kernel kernel = kernel_of(filter);
  const double scale = static_cast<double>(in) / out;
  const double stretch = std::max(scale, 1.0);
  const double support = kernel.support * stretch;
  const double shrink = 1.0 / stretch;
  Taps taps;
  taps.spans.reserve(static_cast<std::size_t>(out));
  std::vector<double> exact;
  for (int i = 0; i < out; ++i) {
    const double centre = (i + 0.5) * scale;
    const int first = std::max(static_cast<int>(centre - support + 0.5), 0);
    const int last = std::min(static_cast<int>(centre + support + 0.5), in);
    exact.clear();
    double total = 0.0;
    for (int x = 0; x < last - first; ++x) {
      exact.push_back(kernel.value((x + first - centre + 0.5) * shrink));
      total += exact.back();
    }
    // A span is moved left rather than read past the end of a row.
    const int count = last - first;
    int padded = (count + kTapBlock - 1) / kTapBlock * kTapBlock;
    if (padded > in) padded = count;
    const int moved = std::min(first, in - padded);
    const std::size_t at = taps.weights.size();
    taps.weights.resize(at + static_cast<std::size_t>(padded));
    for (int x = 0; x < count; ++x) {
      double weight = exact[static_cast<std::size_t>(x)];
      if (total != 0.0) weight /= total;
      taps.weights[at + static_cast<std::size_t>(x + first - moved)] =
          static_cast<std::int32_t>((weight < 0 ? -0.5 : 0.5) + weight * (1 << kWeightBits));
    }
    taps.spans.push_back({moved, padded, at});
  }
  return taps;
}

// The loops below are integer arithmetic, so that every instruction set gives the same bits; they
// are inlined into one function per instruction set.
using Byte = std::uint8_t;

[[gnu::always_inline]] inline Byte rounded(std::int32_t sum) {
  return static_cast<Byte>(std::clamp(sum >> kWeightBits, 0, 255));
}

template <int kChannels>
[[gnu::always_inline]] inline void across_row(const Byte* row, const Taps& taps, Byte* out) {
  constexpr int kLanes = kTapBlock * kChannels;
  for (const Taps::Span& span : taps.spans) {
    const Byte* p = row + static_cast<std::ptrdiff_t>(span.first) * kChannels;
    const std::int32_t* weight = taps.weights.data() + span.at;
    std::array<std::int32_t, kChannels> sum;
    sum.fill(1 << (kWeightBits - 1));
    int x = 0;
    if (kChannels == 1 && span.count >= kTapBlock) {
      std::array<std::int32_t, kLanes> lanes{};
      for (; x + kTapBlock <= span.count; x += kTapBlock) {
        for (int j = 0; j < kLanes; ++j) {
          lanes[static_cast<std::size_t>(j)] += weight[x + j] * p[x + j];
        }
      }
      for (const std::int32_t lane : lanes) sum[0] += lane;
    }
    for (; x < span.count; ++x) {
      for (int c = 0; c < kChannels; ++c) {
        sum[static_cast<std::size_t>(c)] += weight[x] * p[x * kChannels + c];
      }
    }
    for (const std::int32_t s : sum) *out++ = rounded(s);
  }
}

[[gnu::always_inline]] inline void across_rows(ImageView in, const Taps& taps, Image& out) {
  Byte* to = out.pixels.data();
  const std::ptrdiff_t step = static_cast<std::ptrdiff_t>(out.width_px) * out.channels;
  for (int y = 0; y < in.height_px; ++y, to += step) {
    if (in.channels == 1) {
      across_row<1>(in.row(y), taps, to);
    } else {
      across_row<3>(in.row(y), taps, to);
    }
  }
}

[[gnu::always_inline]] inline void down_columns(ImageView in, const Taps& taps, Image& out,
                                                std::vector<std::int32_t>& sums) {
  const std::ptrdiff_t line = static_cast<std::ptrdiff_t>(in.width_px) * in.channels;
  Byte* to = out.pixels.data();
  std::int32_t* const sum = sums.data();
  for (const Taps::Span& span : taps.spans) {
    std::fill_n(sum, line, 1 << (kWeightBits - 1));
    for (int i = 0; i < span.count; ++i) {
      const std::int32_t weight = taps.weights[span.at + static_cast<std::size_t>(i)];
      if (weight == 0) continue;
      const Byte* p = in.row(span.first + i);
      for (std::ptrdiff_t x = 0; x < line; ++x) sum[x] += weight * p[x];
    }
    for (std::ptrdiff_t x = 0; x < line; ++x) to[x] = rounded(sum[x]);
    to += line;
  }
}

using AcrossRows = void (*)(ImageView, const Taps&, Image&);
using DownColumns = void (*)(ImageView, const Taps&, Image&, std::vector<std::int32_t>&);

struct Loops {
  AcrossRows across;
  DownColumns down;
};

void across_rows_base(ImageView in, const Taps& taps, Image& out) { across_rows(in, taps, out); }
void down_columns_base(ImageView in, const Taps& taps, Image& out,
                       std::vector<std::int32_t>& sums) {
  down_columns(in, taps, out, sums);
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void across_rows_avx2(ImageView in, const Taps& taps, Image& out) {
  across_rows(in, taps, out);
}
[[gnu::target("avx2")]] void down_columns_avx2(ImageView in, const Taps& taps, Image& out,
                                               std::vector<std::int32_t>& sums) {
  down_columns(in, taps, out, sums);
}
Loops best_loops() {
  if (__builtin_cpu_supports("avx2")) return {across_rows_avx2, down_columns_avx2};
  return {across_rows_base, down_columns_base};
}
#else
Loops best_loops() { return {across_rows_base, down_columns_base}; }
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
    loops.across(image, make_taps(image.width_px, width_px, filter), half);
    if (!taller) return half;
    image = half.view();
  }
  Image out(height_px, width_px, image.channels);
  std::vector<std::int32_t> sums(static_cast<std::size_t>(width_px) *
                                 static_cast<std::size_t>(image.channels));
  loops.down(image, make_taps(image.height_px, height_px, filter), out, sums);
  return out;
}

Image to_gray(ImageView image) {
  if (image.channels == 1) return packed(image);
  Image out(image.height_px, image.width_px, 1);
  Byte* to = out.pixels.data();
  for (int y = 0; y < image.height_px; ++y) {
    const Byte* p = image.row(y);
    for (int x = 0; x < image.width_px; ++x, p += 3) {
      *to++ = static_cast<Byte>((19595 * p[0] + 38470 * p[1] + 7471 * p[2] + 32768) >> 16);
    }
  }
  return out;
}

}  // namespace winnow
