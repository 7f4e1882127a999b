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
  bool is_most = true;
  bool is_least = true;
  for (const Plane* level : {&here, &below, &above}) {
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dx = -1; dx <= 1; ++dx) {
        if (level == &here && dx == 0 && dy == 0) continue;
        const float other = level->at(x + dx, y + dy);
        is_most = is_most && other < value;
        is_least = is_least && other > value;
      }
    }
    if (!is_most && !is_least) return false;
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

// How steep it is in which direction around a place, within 4.5 times its scale.
AngleHistogram slopes_around(const Plane& level, const Place& place) {
  constexpr int kReach = 8;  // samples to each side
  constexpr int kSide = 2 * kReach + 3;
  constexpr float kReachOfScale = 4.5F;
  const float step = kReachOfScale * place.scale / kReach;
  std::array<std::array<float, kSide>, kSide> values{};
  for (int i = 0; i < kSide; ++i) {
    for (int j = 0; j < kSide; ++j) {
      const float x = place.x + static_cast<float>(j - kReach - 1) * step;
      const float y = place.y + static_cast<float>(i - kReach - 1) * step;
      values[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] = sample(level, x, y);
    }
  }
  AngleHistogram bins{};
  for (int i = -kReach; i <= kReach; ++i) {
    for (int j = -kReach; j <= kReach; ++j) {
      if (i * i + j * j > kReach * kReach) continue;
      const auto row = static_cast<std::size_t>(i + kReach + 1);
      const auto column = static_cast<std::size_t>(j + kReach + 1);
      const float dx = values[row][column + 1] - values[row][column - 1];
      const float dy = values[row + 1][column] - values[row - 1][column];
      const float far = static_cast<float>(i * i + j * j) / (kReach * kReach);
      const float weight = std::exp(-4.5F * far) * std::sqrt(dx * dx + dy * dy);
      const float turn = angle_of(dx, dy) / (2 * std::numbers::pi_v<float>)+0.5F;
      const int bin = static_cast<int>(turn * kAngleBins) % kAngleBins;
      bins[static_cast<std::size_t>(bin)] += weight;
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

std::vector<Landmark> find_landmarks(const Plane& picture, int most_places) {
  if (picture.width < 3 || picture.height < 3) return {};
  const std::vector<Plane> levels = scale_space(picture);
  std::vector<Blob> blobs = blobs_of(levels);
  if (blobs.size() > static_cast<std::size_t>(most_places)) {
    blobs.resize(static_cast<std::size_t>(most_places));
  }
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
