#include "app/predict/blend.h"

#include <algorithm>
#include <cmath>

namespace winnow::app {
namespace {

std::vector<double> bump(std::int64_t side) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < side; ++i) {
    const double t = (2 * static_cast<double>(i) + 1) / static_cast<double>(side) - 1;
    values.push_back(std::exp(-1 / (1 - t * t)));
  }
  return values;
}

std::int64_t cells(std::int64_t side, std::int64_t step) noexcept {
  return (side + step - 1) / step;
}

std::size_t volume_of(const Extent& points) {
  return static_cast<std::size_t>(points[0] * points[1] * points[2]);
}

}  // namespace

BumpWeights::BumpWeights(const Extent& window) {
  double most = 1;
  least_ = 1;
  for (std::size_t axis = 0; axis < window.size(); ++axis) {
    axes_[axis] = bump(window[axis]);
    const auto [low, high] = std::ranges::minmax(axes_[axis]);
    least_ *= low;
    most *= high;
  }
  range_ = most - least_;
}

BlendedMean::BlendedMean(const Extent& side, const Extent& step, const Extent& window,
                         std::size_t channels)
    : side_(side),
      step_(step),
      window_(window),
      points_{cells(side[0], step[0]), cells(side[1], step[1]), cells(side[2], step[2])},
      channels_(channels),
      weights_(window),
      sums_(volume_of(points_) * channels),
      covered_(volume_of(points_)) {}

std::uint64_t BlendedMean::bytes_of(const Extent& side, const Extent& step, std::size_t channels) {
  std::uint64_t points = 1;
  for (std::size_t axis = 0; axis < side.size(); ++axis) {
    points *= static_cast<std::uint64_t>(cells(side[axis], step[axis]));
  }
  // Sums, weights, and the resulting mean.
  return points * (channels * (sizeof(double) + sizeof(float)) + sizeof(double));
}

std::int64_t BlendedMean::pixel_of(std::size_t axis, std::int64_t point) const noexcept {
  return std::min(point * step_[axis] + step_[axis] / 2, side_[axis] - 1);
}

std::int64_t BlendedMean::first_point(std::size_t axis, std::int64_t pixel) const noexcept {
  if (pixel >= side_[axis]) return points_[axis];
  std::int64_t point = std::max<std::int64_t>(0, pixel / step_[axis] - 1);
  while (point < points_[axis] && pixel_of(axis, point) < pixel) ++point;
  return point;
}

std::vector<float> BlendedMean::mean() const {
  std::vector<float> means(sums_.size(), std::numeric_limits<float>::quiet_NaN());
  for (std::size_t point = 0; point < covered_.size(); ++point) {
    if (covered_[point] == 0) continue;
    for (std::size_t c = 0; c < channels_; ++c) {
      const std::size_t i = point * channels_ + c;
      means[i] = static_cast<float>(sums_[i] / covered_[point]);
    }
  }
  return means;
}

}  // namespace winnow::app
