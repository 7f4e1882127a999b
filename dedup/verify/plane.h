#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "common/image.h"

namespace winnow::dedup {

// Gray values of a picture as floats, row by row. Pixel (x, y) has its centre at coordinates x, y.
struct Plane {
  int width = 0;
  int height = 0;
  std::vector<float> values;

  float at(int x, int y) const noexcept { return row(y)[x]; }
  const float* row(int y) const noexcept { return values.data() + std::ptrdiff_t{y} * width; }
  float* row(int y) noexcept { return values.data() + std::ptrdiff_t{y} * width; }
  bool contains(double x, double y) const noexcept {
    return x >= 0 && y >= 0 && x <= width - 1 && y <= height - 1;
  }
};

// Approximate number of pixels at which pictures are compared. Smaller pictures are enlarged to it,
// so that a copy of 32x32 px has as many landmarks as one of 500x375 px.
inline constexpr int kComparedPixels = 4032;

// Converts a gray image (at least 1x1 px) to floats. Enlarges it (bicubic) if it has fewer than 7/8
// of kComparedPixels.
Plane plane_of(ImageView gray);

// The area of a gray image inside its bars and frames. Rows and columns of one value, within 8 gray
// values, are cut off from each side, and one more row or column, which may be mixed. If less than
// a quarter of a side or less than 8 pixels would remain, the whole image is returned.
Box content_of(ImageView gray);
Plane content_plane(ImageView gray);  // plane_of() the area that content_of() returns

// The value at a point, by bilinear interpolation. Beyond the border: the nearest value.
inline float sample(const Plane& plane, float x, float y) noexcept {
  x = std::clamp(x, 0.0F, static_cast<float>(plane.width - 1));
  y = std::clamp(y, 0.0F, static_cast<float>(plane.height - 1));
  const int left = std::min(static_cast<int>(x), std::max(0, plane.width - 2));
  const int top = std::min(static_cast<int>(y), std::max(0, plane.height - 2));
  const float right = x - static_cast<float>(left);
  const float below = y - static_cast<float>(top);
  const float* const above_row = plane.row(top) + left;
  const std::ptrdiff_t next = plane.width > 1 ? 1 : 0;
  const float* const below_row = above_row + (plane.height > 1 ? plane.width : 0);
  const float upper = above_row[0] + right * (above_row[next] - above_row[0]);
  const float lower = below_row[0] + right * (below_row[next] - below_row[0]);
  return upper + below * (lower - upper);
}

// Gaussian blur of standard deviation `sigma`, cut off at 3 sigma. Pixels of the border are
// repeated.
Plane blurred(const Plane& plane, float sigma);

// Derivatives by x and y: central differences; at the border, half of the one-sided difference.
Plane slope_x(const Plane& plane);
Plane slope_y(const Plane& plane);

Plane difference(const Plane& a, const Plane& b);  // a - b; both have one size

}  // namespace winnow::dedup
