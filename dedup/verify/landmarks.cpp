#include "dedup/verify/landmarks.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <utility>

#include "dedup/verify/scale_space_internal.h"
#include "dedup/verify/window_code_internal.h"

namespace winnow::dedup {
namespace {

constexpr float kLeastPeak = 0.8F;  // minimum for the second angle, relative to the first
constexpr int kMostAngles = 2;

constexpr int kAngleBins = 36;
using AngleHistogram = std::array<float, kAngleBins>;

float bin_at(const AngleHistogram& bins, int i) {
  return bins[static_cast<std::size_t>((i + kAngleBins) % kAngleBins)];
}

constexpr int kAngleReach = 8;  // samples on each side of a landmark
constexpr int kAngleSide = 2 * kAngleReach + 1;

// A sample in the circle around a landmark, with its weight.
struct AngleSample {
  std::size_t row = 0;
  std::size_t column = 0;
  float weight = 0;
};

const std::vector<AngleSample>& angle_samples() {
  static const std::vector<AngleSample> samples = [] {
    std::vector<AngleSample> all;
    for (int i = -kAngleReach; i <= kAngleReach; ++i) {
      for (int j = -kAngleReach; j <= kAngleReach; ++j) {
        const double far = static_cast<double>(i * i + j * j) / (kAngleReach * kAngleReach);
        if (far > 1) continue;
        all.push_back({static_cast<std::size_t>(i + kAngleReach),
                       static_cast<std::size_t>(j + kAngleReach),
                       static_cast<float>(std::exp(-4.5 * far))});
      }
    }
    return all;
  }();
  return samples;
}

// Positions of a row of samples along an axis of pixels.
struct AxisSamples {
  AxisSamples(float middle, float step, int size) {
    for (int i = 0; i < kCount; ++i) {
      const float at = std::clamp(middle + static_cast<float>(i - kAngleReach - 1) * step, 0.0F,
                                  static_cast<float>(size - 1));
      const int before = std::min(static_cast<int>(at), std::max(0, size - 2));
      first[static_cast<std::size_t>(i)] = before;
      share[static_cast<std::size_t>(i)] = at - static_cast<float>(before);
    }
    next = size > 1 ? 1 : 0;
  }

  static constexpr int kCount = kAngleSide + 2;
  std::array<int, kCount> first{};
  std::array<float, kCount> share{};  // weight of the next pixel
  int next = 0;
};
using AngleGrid = std::array<std::array<float, AxisSamples::kCount>, AxisSamples::kCount>;

// Bilinear.
AngleGrid samples_around(const Plane& level, float x, float y, float step) {
  const AxisSamples across(x, step, level.width);
  const AxisSamples down(y, step, level.height);
  AngleGrid grid;
  std::array<float, AxisSamples::kCount> upper;
  std::array<float, AxisSamples::kCount> lower;
  int upper_row = -1;
  int lower_row = -1;
  const auto read = [&](int row, auto& values) {
    const float* const from = level.row(row);
    for (std::size_t j = 0; j < values.size(); ++j) {
      const float* const at = from + across.first[j];
      values[j] = at[0] + across.share[j] * (at[across.next] - at[0]);
    }
  };
  for (std::size_t i = 0; i < grid.size(); ++i) {
    const int row = down.first[i];
    if (row != upper_row) {
      if (row == lower_row) {
        upper = lower;
      } else {
        read(row, upper);
      }
      upper_row = row;
      lower_row = row + down.next;
      read(lower_row, lower);
    }
    for (std::size_t j = 0; j < grid.size(); ++j) {
      grid[i][j] = upper[j] + down.share[i] * (lower[j] - upper[j]);
    }
  }
  return grid;
}

// Histogram of gradient directions around a place, within 4.5 times its scale.
AngleHistogram slopes_around(const ScaleSpace::Level& level, const Place& place) {
  constexpr float kReachOfScale = 4.5F;
  const AngleGrid values = samples_around(level.plane, place.x / level.pixel, place.y / level.pixel,
                                          kReachOfScale * place.scale / level.pixel / kAngleReach);
  std::array<std::array<float, kAngleSide>, kAngleSide> steepness;
  std::array<std::array<int, kAngleSide>, kAngleSide> bin;
  for (std::size_t i = 0; i < kAngleSide; ++i) {
    for (std::size_t j = 0; j < kAngleSide; ++j) {
      const float dx = values[i + 1][j + 2] - values[i + 1][j];
      const float dy = values[i + 2][j + 1] - values[i][j + 1];
      steepness[i][j] = std::sqrt(dx * dx + dy * dy);
      bin[i][j] =
          static_cast<int>((angle_of(dx, dy) / (2 * std::numbers::pi_v<float>)+0.5F) * kAngleBins);
    }
  }
  AngleHistogram bins{};
  for (const AngleSample& sample : angle_samples()) {
    const int at = bin[sample.row][sample.column];
    bins[static_cast<std::size_t>(at == kAngleBins ? 0 : at)] +=
        sample.weight * steepness[sample.row][sample.column];
  }
  return bins;
}

AngleHistogram smoothed(AngleHistogram bins) {
  for (int times = 0; times < 4; ++times) {
    AngleHistogram next{};
    for (int i = 0; i < kAngleBins; ++i) {
      next[static_cast<std::size_t>(i)] =
          (bin_at(bins, i - 1) + bin_at(bins, i) + bin_at(bins, i + 1)) / 3;
    }
    bins = next;
  }
  return bins;
}

// The strongest direction, and a second one of nearly the same strength.
std::vector<float> angles_of(const AngleHistogram& bins) {
  const float most = *std::ranges::max_element(bins);
  std::vector<std::pair<float, int>> peaks;
  for (int i = 0; i < kAngleBins && most > 0; ++i) {
    const float value = bin_at(bins, i);
    if (value > bin_at(bins, i - 1) && value >= bin_at(bins, i + 1) && value >= kLeastPeak * most) {
      peaks.emplace_back(-value, i);
    }
  }
  std::ranges::sort(peaks);
  if (peaks.size() > kMostAngles) peaks.resize(kMostAngles);
  std::vector<float> angles;
  for (const auto& [height, i] : peaks) {
    const float bin =
        static_cast<float>(i) + 0.5F + vertex(bin_at(bins, i - 1), -height, bin_at(bins, i + 1));
    angles.push_back((bin / kAngleBins * 2 - 1) * std::numbers::pi_v<float>);
  }
  return angles;
}

Place in_pixels_of(const ScaleSpace::Level& level, const Place& place) {
  return {place.x / level.pixel, place.y / level.pixel, place.scale / level.pixel, place.angle};
}

}  // namespace

std::vector<Landmark> find_landmarks(const Plane& picture) {
  if (picture.width < 3 || picture.height < 3) return {};
  const ScaleSpace space(picture);
  std::vector<Place> blobs = space.blobs();
  if (blobs.size() > kMostLandmarks) blobs.resize(kMostLandmarks);
  std::vector<Landmark> landmarks;
  for (Place& place : blobs) {
    const int level = ScaleSpace::level_of(place.scale);
    const ScaleSpace::Level finer = space.at(level - 2);
    for (const float angle : angles_of(smoothed(slopes_around(space.at(level), place)))) {
      place.angle = angle;
      landmarks.push_back({place, code_of_window(finer.plane, in_pixels_of(finer, place))});
    }
  }
  return landmarks;
}

int distance(const LandmarkCode& a, const LandmarkCode& b) noexcept {
  return std::popcount(a[0] ^ b[0]) + std::popcount(a[1] ^ b[1]);
}

}  // namespace winnow::dedup
