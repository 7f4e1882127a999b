#include "dedup/verify/plane.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "common/resample.h"
#include "common/simd.h"

namespace winnow::dedup {
namespace {

// A Gaussian kernel: the centre, and one side of it.
std::vector<float> gaussian(float sigma) {
  const int reach = std::max(1, static_cast<int>(std::ceil(3 * sigma)));
  std::vector<double> weights;
  double total = 0;
  for (int i = 0; i <= reach; ++i) {
    weights.push_back(std::exp(-i * i / (2.0 * sigma * sigma)));
    total += (i == 0 ? 1 : 2) * weights.back();
  }
  std::vector<float> taps;
  for (const double weight : weights) taps.push_back(static_cast<float>(weight / total));
  return taps;
}

using Four [[gnu::vector_size(16)]] = float;
using Eight [[gnu::vector_size(32)]] = float;

template <class Lanes>
[[gnu::always_inline]] inline Lanes load(const float* from) {
  Lanes lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}

// to[x] = taps[0] lines[0][x] + the sum of taps[i] (lines[-i][x] + lines[i][x]), for as many x as
// two vectors hold.
template <class Lanes>
[[gnu::always_inline]] inline void weigh_two(int x, const float* const* lines,
                                             std::span<const float> taps, float* to) {
  constexpr std::size_t kLanes = sizeof(Lanes) / sizeof(float);
  Lanes first = taps[0] * load<Lanes>(lines[0] + x);
  Lanes second = taps[0] * load<Lanes>(lines[0] + x + kLanes);
  for (std::size_t i = 1; i < taps.size(); ++i) {
    const float* const before = lines[-static_cast<std::ptrdiff_t>(i)] + x;
    const float* const behind = lines[i] + x;
    first += taps[i] * (load<Lanes>(before) + load<Lanes>(behind));
    second += taps[i] * (load<Lanes>(before + kLanes) + load<Lanes>(behind + kLanes));
  }
  std::memcpy(to + x, &first, sizeof first);
  std::memcpy(to + x + kLanes, &second, sizeof second);
}

template <class Lanes>
[[gnu::always_inline]] inline void weigh_by(const float* const* lines, std::span<const float> taps,
                                            int width, float* to) {
  constexpr int kAtOnce = 2 * sizeof(Lanes) / sizeof(float);
  int x = 0;
  for (; x + kAtOnce <= width; x += kAtOnce) weigh_two<Lanes>(x, lines, taps, to);
  if (x == width) return;
  // Overlaps the last vectors.
  if (width >= kAtOnce) return weigh_two<Lanes>(width - kAtOnce, lines, taps, to);
  for (; x < width; ++x) {
    to[x] = taps[0] * lines[0][x];
    for (std::size_t i = 1; i < taps.size(); ++i) {
      to[x] += taps[i] * (lines[-static_cast<std::ptrdiff_t>(i)][x] + lines[i][x]);
    }
  }
}
#if defined(__x86_64__)
[[gnu::target("avx2")]] void weigh_avx2(const float* const* lines, std::span<const float> taps,
                                        int width, float* to) {
  weigh_by<Eight>(lines, taps, width, to);
}
#endif

void weigh(const float* const* lines, std::span<const float> taps, int width, float* to) {
#if defined(__x86_64__)
  if (widest_simd() >= Simd::kAvx2) return weigh_avx2(lines, taps, width, to);
#endif
  weigh_by<Four>(lines, taps, width, to);
}

Plane values_of(ImageView gray) {
  Plane plane{gray.width_px, gray.height_px, {}};
  plane.values.reserve(static_cast<std::size_t>(plane.width) *
                       static_cast<std::size_t>(plane.height));
  for (int y = 0; y < plane.height; ++y) {
    plane.values.insert(plane.values.end(), gray.row(y), gray.row(y) + plane.width);
  }
  return plane;
}

// A row or column of a gray image.
struct Line {
  const std::uint8_t* first;
  std::ptrdiff_t step;
  int count;

  std::pair<int, int> range() const {
    int least = 255;
    int most = 0;
    for (int i = 0; i < count; ++i) {
      const int value = first[i * step];
      least = std::min(least, value);
      most = std::max(most, value);
    }
    return {least, most};
  }
};

// The number of leading lines that all have one value.
template <class LineAt>
int uniform_lines(int count, const LineAt& line_at) {
  constexpr int kSame = 8;
  int least = 255;
  int most = 0;
  for (int i = 0; i < count; ++i) {
    const auto [low, high] = line_at(i).range();
    least = std::min(least, low);
    most = std::max(most, high);
    if (most - least > kSame) return i;
  }
  return count;
}

// First position and count of what remains between margins.
std::pair<int, int> between(int before, int behind, int side) {
  const auto margin = [](int lines) { return lines > 0 ? lines + 1 : 0; };
  const int left = side - margin(before) - margin(behind);
  if (left < std::max(8, side / 4)) return {0, side};
  return {margin(before), left};
}

}  // namespace

Box content_of(ImageView gray) {
  const auto row = [&](int y) { return Line{gray.row(y), 1, gray.width_px}; };
  const int height = gray.height_px;
  const auto [top, rows] =
      between(uniform_lines(height, row),
              uniform_lines(height, [&](int y) { return row(height - 1 - y); }), height);
  // Only the remaining rows count: a frame's columns have one value only between its bars.
  const auto column = [&, top = top, rows = rows](int x) {
    return Line{gray.row(top) + x, gray.row_stride_bytes, rows};
  };
  const int width = gray.width_px;
  const auto [left, columns] =
      between(uniform_lines(width, column),
              uniform_lines(width, [&](int x) { return column(width - 1 - x); }), width);
  return {.top = top, .left = left, .height_px = rows, .width_px = columns};
}

Plane plane_of(ImageView gray) {
  const double pixels = static_cast<double>(gray.width_px) * gray.height_px;
  if (pixels >= kComparedPixels * 7 / 8.0) return values_of(gray);
  const double scale = std::sqrt(kComparedPixels / pixels);
  const auto enlarged = [scale](int side) {
    return std::max(1, static_cast<int>(std::lround(side * scale)));
  };
  return values_of(
      resize(gray, enlarged(gray.height_px), enlarged(gray.width_px), ResampleFilter::kBicubic)
          .view());
}

Plane content_plane(ImageView gray) { return plane_of(part_of(gray, content_of(gray))); }

Plane blurred(const Plane& plane, float sigma) {
  const std::vector<float> taps = gaussian(sigma);
  const auto reach = static_cast<std::ptrdiff_t>(taps.size()) - 1;
  Plane across{plane.width, plane.height, std::vector<float>(plane.values.size())};
  std::vector<float> padded(static_cast<std::size_t>(plane.width + 2 * reach));
  std::vector<const float*> lines;
  for (std::ptrdiff_t i = 0; i <= 2 * reach; ++i) lines.push_back(padded.data() + i);
  for (int y = 0; y < plane.height; ++y) {
    const float* const from = plane.row(y);
    std::fill_n(padded.begin(), reach, from[0]);
    std::copy_n(from, plane.width, padded.begin() + reach);
    std::fill_n(padded.begin() + reach + plane.width, reach, from[plane.width - 1]);
    weigh(lines.data() + reach, taps, plane.width, across.row(y));
  }
  lines.clear();
  for (std::ptrdiff_t y = -reach; y < plane.height + reach; ++y) {
    lines.push_back(across.row(std::clamp(static_cast<int>(y), 0, plane.height - 1)));
  }
  Plane out{plane.width, plane.height, std::vector<float>(plane.values.size())};
  for (int y = 0; y < plane.height; ++y) {
    weigh(lines.data() + reach + y, taps, plane.width, out.row(y));
  }
  return out;
}

Plane slope_x(const Plane& plane) {
  Plane out = plane;
  for (int y = 0; y < plane.height; ++y) {
    const float* const from = plane.row(y);
    float* const to = out.row(y);
    for (int x = 0; x < plane.width; ++x) {
      to[x] = (from[std::min(x + 1, plane.width - 1)] - from[std::max(x - 1, 0)]) / 2;
    }
  }
  return out;
}

Plane slope_y(const Plane& plane) {
  Plane out = plane;
  for (int y = 0; y < plane.height; ++y) {
    const float* const above = plane.row(std::max(y - 1, 0));
    const float* const below = plane.row(std::min(y + 1, plane.height - 1));
    float* const to = out.row(y);
    for (int x = 0; x < plane.width; ++x) to[x] = (below[x] - above[x]) / 2;
  }
  return out;
}

Plane difference(const Plane& a, const Plane& b) {
  Plane out = a;
  for (std::size_t i = 0; i < out.values.size(); ++i) out.values[i] -= b.values[i];
  return out;
}

}  // namespace winnow::dedup
