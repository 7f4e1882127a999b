#include "dedup/verify/landmarks.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <optional>
#include <utility>

#include "dedup/verify/window_code_internal.h"

namespace winnow::dedup {
namespace {

constexpr int kLevels = 10;
constexpr int kLevelsAnOctave = 3;
constexpr float kLeastScale = 1.0F;
constexpr float kScaleOfPicture = 0.5F;  // sigma that a sampled picture has already
constexpr float kLeastResponse = 0.5F;   // gray values
constexpr float kMostEdge = 12.1F;       // (r + 1)^2 / r of Lowe's r = 10
constexpr float kMostOutside = 0.4F;
constexpr float kLeastPeak = 0.8F;  // of a second angle, of the first
constexpr int kMostAngles = 2;

float scale_of(float level) { return kLeastScale * std::exp2(level / kLevelsAnOctave); }

std::vector<Plane> scale_space(const Plane& picture) {
  std::vector<Plane> levels;
  float sigma = kScaleOfPicture;
  for (int k = 0; k < kLevels; ++k) {
    const float next = scale_of(static_cast<float>(k));
    const float more = std::sqrt(next * next - sigma * sigma);
    levels.push_back(blurred(k == 0 ? picture : levels.back(), more));
    sigma = next;
  }
  return levels;
}

// A place of the difference-of-Gaussians pyramid.
struct Blob {
  Place place;
  int level = 0;
  float response = 0;
};

// Three neighbouring levels, and a pixel of the middle one.
struct Cube {
  const Plane& below;
  const Plane& here;
  const Plane& above;
  int x;
  int y;

  float at(int dx, int dy) const { return here.at(x + dx, y + dy); }
  bool is_extreme() const;
  bool is_edge() const;
};

bool Cube::is_extreme() const {
  const float value = at(0, 0);
  // Of its own sign: what is bright is most, what is dark least.
  const float sign = value > 0 ? 1.0F : -1.0F;
  const float most = sign * value;
  for (const Plane* level : {&here, &below, &above}) {
    for (int dy = -1; dy <= 1; ++dy) {
      const float* const row = level->row(y + dy) + x;
      const float left = sign * row[-1];
      const float right = sign * row[1];
      const bool is_itself = level == &here && dy == 0;
      if (left >= most || right >= most || (!is_itself && sign * row[0] >= most)) return false;
    }
  }
  return true;
}

bool Cube::is_edge() const {
  const float xx = at(1, 0) + at(-1, 0) - 2 * at(0, 0);
  const float yy = at(0, 1) + at(0, -1) - 2 * at(0, 0);
  const float xy = (at(1, 1) - at(-1, 1) - at(1, -1) + at(-1, -1)) / 4;
  const float determinant = xx * yy - xy * xy;
  const float trace = xx + yy;
  return determinant <= 0 || trace * trace > kMostEdge * determinant;
}

// Where the parabola through three values is steepest, from the middle one.
float vertex(float before, float middle, float after) {
  const float bend = before + after - 2 * middle;
  if (bend == 0) return 0;
  return std::clamp(-(after - before) / 2 / bend, -0.6F, 0.6F);
}

// How much of a window lies outside.
float share_outside(const Plane& picture, const Place& place) {
  const float reach = kWindowReach * place.scale;
  const auto inside = [reach](float at, int size) {
    return std::min(at + reach, static_cast<float>(size - 1)) - std::max(at - reach, 0.0F);
  };
  return 1 - inside(place.x, picture.width) * inside(place.y, picture.height) / (4 * reach * reach);
}

std::optional<Blob> blob_at(const Cube& cube, int level) {
  const float value = cube.at(0, 0);
  if (std::fabs(value) < kLeastResponse || !cube.is_extreme() || cube.is_edge()) return {};
  Blob blob{.place = {}, .level = level, .response = std::fabs(value)};
  blob.place.x = static_cast<float>(cube.x) + vertex(cube.at(-1, 0), value, cube.at(1, 0));
  blob.place.y = static_cast<float>(cube.y) + vertex(cube.at(0, -1), value, cube.at(0, 1));
  const float between = vertex(cube.below.at(cube.x, cube.y), value, cube.above.at(cube.x, cube.y));
  blob.place.scale = scale_of(static_cast<float>(level) + between);
  if (share_outside(cube.here, blob.place) > kMostOutside) return {};
  return blob;
}

std::vector<Blob> blobs_of(const std::vector<Plane>& levels) {
  std::vector<Plane> differences;
  for (int k = 0; k + 1 < kLevels; ++k) {
    const auto at = static_cast<std::size_t>(k);
    differences.push_back(difference(levels[at + 1], levels[at]));
  }
  std::vector<Blob> blobs;
  for (std::size_t k = 1; k + 1 < differences.size(); ++k) {
    const Plane& here = differences[k];
    for (int y = 1; y < here.height - 1; ++y) {
      for (int x = 1; x < here.width - 1; ++x) {
        const Cube cube{differences[k - 1], here, differences[k + 1], x, y};
        if (const auto blob = blob_at(cube, static_cast<int>(k))) blobs.push_back(*blob);
      }
    }
  }
  std::ranges::stable_sort(blobs, std::greater(), &Blob::response);
  return blobs;
}

constexpr int kAngleBins = 36;
using AngleHistogram = std::array<float, kAngleBins>;

float bin_at(const AngleHistogram& bins, int i) {
  return bins[static_cast<std::size_t>((i + kAngleBins) % kAngleBins)];
}

constexpr int kAngleReach = 8;  // samples to each side of a landmark
constexpr int kAngleSide = 2 * kAngleReach + 1;

// What each of them counts for: a Gaussian within a circle.
struct AngleWeights {
  AngleWeights() {
    for (int i = -kAngleReach; i <= kAngleReach; ++i) {
      for (int j = -kAngleReach; j <= kAngleReach; ++j) {
        const double far = static_cast<double>(i * i + j * j) / (kAngleReach * kAngleReach);
        if (far > 1) continue;
        at[static_cast<std::size_t>(i + kAngleReach)][static_cast<std::size_t>(j + kAngleReach)] =
            static_cast<float>(std::exp(-4.5 * far));
      }
    }
  }
  std::array<std::array<float, kAngleSide>, kAngleSide> at{};
};

// How steep it is in which direction around a place, within 4.5 times its scale.
AngleHistogram slopes_around(const Plane& level, const Place& place) {
  static const AngleWeights weights;
  constexpr float kReachOfScale = 4.5F;
  const float step = kReachOfScale * place.scale / kAngleReach;
  std::array<std::array<float, kAngleSide + 2>, kAngleSide + 2> values{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float y = place.y + (static_cast<float>(i) - kAngleReach - 1) * step;
    for (std::size_t j = 0; j < values.size(); ++j) {
      values[i][j] = sample(level, place.x + (static_cast<float>(j) - kAngleReach - 1) * step, y);
    }
  }
  AngleHistogram bins{};
  for (std::size_t i = 0; i < kAngleSide; ++i) {
    std::array<float, kAngleSide> steepness{};
    std::array<float, kAngleSide> turn{};
    for (std::size_t j = 0; j < kAngleSide; ++j) {
      const float dx = values[i + 1][j + 2] - values[i + 1][j];
      const float dy = values[i + 2][j + 1] - values[i][j + 1];
      steepness[j] = weights.at[i][j] * std::sqrt(dx * dx + dy * dy);
      turn[j] = (angle_of(dx, dy) / (2 * std::numbers::pi_v<float>)+0.5F) * kAngleBins;
    }
    for (std::size_t j = 0; j < kAngleSide; ++j) {
      bins[static_cast<std::size_t>(turn[j]) % kAngleBins] += steepness[j];
    }
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

// The steepest direction, and another that is nearly as steep.
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

}  // namespace

std::vector<Landmark> find_landmarks(const Plane& picture) {
  if (picture.width < 3 || picture.height < 3) return {};
  const std::vector<Plane> levels = scale_space(picture);
  std::vector<Blob> blobs = blobs_of(levels);
  if (blobs.size() > kMostLandmarks) blobs.resize(kMostLandmarks);
  std::vector<Landmark> landmarks;
  for (const Blob& blob : blobs) {
    const float level = kLevelsAnOctave * std::log2(blob.place.scale / kLeastScale);
    const int nearest = std::clamp(static_cast<int>(std::lround(level)), 0, kLevels - 1);
    const Plane& at = levels[static_cast<std::size_t>(nearest)];
    const Plane& finer = levels[static_cast<std::size_t>(std::max(0, nearest - 2))];
    for (const float angle : angles_of(smoothed(slopes_around(at, blob.place)))) {
      Place place = blob.place;
      place.angle = angle;
      landmarks.push_back({place, code_of_window(finer, place)});
    }
  }
  return landmarks;
}

int distance(const LandmarkCode& a, const LandmarkCode& b) noexcept {
  return std::popcount(a[0] ^ b[0]) + std::popcount(a[1] ^ b[1]);
}

}  // namespace winnow::dedup
