#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace winnow::app {

// Three extents: slices, rows, columns. A 2-D picture has one slice.
using Extent = std::array<std::int64_t, 3>;

// Weight of each pixel of a window for blending: the product over axes of exp(-1 / (1 - t^2)),
// where t is -1 and 1 at the window's edges; rescaled to [1e-6, 1]. All 1 if the products are
// equal. Source: chunkflow's patch mask (Wu et al. 2021), whose range underflows f32 at the
// corners.
class BumpWeights {
 public:
  explicit BumpWeights(const Extent& window);

  double at(std::int64_t slice, std::int64_t row, std::int64_t column) const noexcept {
    const double product = axes_[0][static_cast<std::size_t>(slice)] *
                           axes_[1][static_cast<std::size_t>(row)] *
                           axes_[2][static_cast<std::size_t>(column)];
    return range_ > 0 ? kLeast + (1 - kLeast) * ((product - least_) / range_) : 1;
  }

 private:
  static constexpr double kLeast = 1e-6;
  std::array<std::vector<double>, 3> axes_;
  double least_ = 0;
  double range_ = 0;
};

// The weighted mean of overlapping windows at points of a picture: the centres of cells of `step`
// pixels. Sums are f64.
//
// Places      windows may begin anywhere: the sum is divided by the sum of the weights
// No window   a point that no window covers is NaN
// Same bits   if windows are added in the same order
// Threads     one at a time
class BlendedMean {
 public:
  // side  of the picture in pixels, along each axis
  // step  distance of points in pixels, along each axis; 1: every pixel is a point
  BlendedMean(const Extent& side, const Extent& step, const Extent& window, std::size_t channels);

  // Number of points along each axis: side / step, rounded up.
  const Extent& points() const noexcept { return points_; }
  // Memory in bytes that a blended mean of this size needs.
  static std::uint64_t bytes_of(const Extent& side, const Extent& step, std::size_t channels);

  // Adds a window that begins at pixel `at` of the picture. value(pixel) returns the channels of a
  // pixel of the window, counted from {0, 0, 0}. Pixels outside the picture are ignored.
  template <class Value>
  void add_pixels(const Extent& at, const Value& value);
  // Adds a window that begins at pixel `at` and has these channel values in all its pixels.
  void add(const Extent& at, std::span<const float> values) {
    add_pixels(at, [values](const Extent&) { return values; });
  }

  // The blended means: (points, channels).
  std::vector<float> mean() const;

 private:
  std::int64_t pixel_of(std::size_t axis, std::int64_t point) const noexcept;
  // The first point of the blended mean at or after a pixel.
  std::int64_t first_point(std::size_t axis, std::int64_t pixel) const noexcept;

  Extent side_;
  Extent step_;
  Extent window_;
  Extent points_;
  std::size_t channels_;
  BumpWeights weights_;
  std::vector<double> sums_;     // weighted sums: (points, channels)
  std::vector<double> covered_;  // sum of the weights at each point
};

template <class Value>
void BlendedMean::add_pixels(const Extent& at, const Value& value) {
  Extent first;
  Extent end;
  for (std::size_t axis = 0; axis < at.size(); ++axis) {
    first[axis] = first_point(axis, at[axis]);
    end[axis] = first_point(axis, at[axis] + window_[axis]);
  }
  for (std::int64_t z = first[0]; z < end[0]; ++z) {
    const std::int64_t slice = pixel_of(0, z) - at[0];
    for (std::int64_t y = first[1]; y < end[1]; ++y) {
      const std::int64_t row = pixel_of(1, y) - at[1];
      for (std::int64_t x = first[2]; x < end[2]; ++x) {
        const std::int64_t column = pixel_of(2, x) - at[2];
        const double weight = weights_.at(slice, row, column);
        const auto point = static_cast<std::size_t>((z * points_[1] + y) * points_[2] + x);
        const std::span<const float> values = value(Extent{slice, row, column});
        for (std::size_t c = 0; c < channels_; ++c) {
          sums_[point * channels_ + c] += weight * double{values[c]};
        }
        covered_[point] += weight;
      }
    }
  }
}

}  // namespace winnow::app
