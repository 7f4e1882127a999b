#include "dedup/verify/plane.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "common/resample.h"

namespace winnow::dedup {
namespace {

std::vector<float> gaussian(float sigma) {
  const int reach = std::max(1, static_cast<int>(std::ceil(3 * sigma)));
  std::vector<double> weights;
  double total = 0;
  for (int i = -reach; i <= reach; ++i) {
    weights.push_back(std::exp(-i * i / (2.0 * sigma * sigma)));
    total += weights.back();
  }
  std::vector<float> taps;
  for (const double weight : weights) taps.push_back(static_cast<float>(weight / total));
  return taps;
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

// How many lines from the first on have one value, all the same.
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

// What is left between margins: first and count.
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
  // Columns of what is left: a frame's columns are of one value only between its bars.
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
  const int reach = static_cast<int>(taps.size() / 2);
  const int width = plane.width;
  Plane across{width, plane.height, std::vector<float>(plane.values.size())};
  std::vector<float> padded(static_cast<std::size_t>(width + 2 * reach));
  for (int y = 0; y < plane.height; ++y) {
    const float* const from = plane.row(y);
    std::fill_n(padded.begin(), reach, from[0]);
    std::copy_n(from, width, padded.begin() + reach);
    std::fill_n(padded.begin() + reach + width, reach, from[width - 1]);
    float* const to = across.row(y);
    for (std::size_t i = 0; i < taps.size(); ++i) {
      const float tap = taps[i];
      const float* const shifted = padded.data() + i;
      for (int x = 0; x < width; ++x) to[x] += tap * shifted[x];
    }
  }
  Plane out{width, plane.height, std::vector<float>(plane.values.size())};
  for (int y = 0; y < plane.height; ++y) {
    float* const to = out.row(y);
    for (int i = -reach; i <= reach; ++i) {
      const float tap = taps[static_cast<std::size_t>(i + reach)];
      const float* const from = across.row(std::clamp(y + i, 0, plane.height - 1));
      for (int x = 0; x < width; ++x) to[x] += tap * from[x];
    }
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
