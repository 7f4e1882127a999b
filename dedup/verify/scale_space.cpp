#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "common/simd.h"
#include "dedup/verify/scale_space_internal.h"
#include "dedup/verify/window_code_internal.h"

namespace winnow::dedup {
namespace {

constexpr int kLevels = 10;
constexpr int kLevelsAnOctave = 3;
constexpr int kOctaves = 3;
constexpr float kLeastScale = 1.0F;
constexpr float kScaleOfPicture = 0.5F;  // blur that a sampled picture already has
constexpr float kLeastResponse = 0.5F;   // gray values
constexpr float kMostEdge = 12.1F;       // (r + 1)^2 / r for Lowe's r = 10
constexpr float kMostOutside = 0.4F;

float scale_of(float level) { return kLeastScale * std::exp2(level / kLevelsAnOctave); }

// Every second pixel.
Plane halved(const Plane& plane) {
  Plane half{(plane.width + 1) / 2, (plane.height + 1) / 2, {}};
  half.values.reserve(static_cast<std::size_t>(half.width) * static_cast<std::size_t>(half.height));
  for (int y = 0; y < plane.height; y += 2) {
    for (int x = 0; x < plane.width; x += 2) half.values.push_back(plane.at(x, y));
  }
  return half;
}

// The difference of a level to the next, and the maximum and minimum of each pixel and its two
// horizontal neighbours.
struct Difference {
  Difference(const Plane& from, const Plane& to)
      : value(difference(to, from)), most(value), least(value) {
    for (int y = 0; y < value.height; ++y) {
      const float* const row = value.row(y);
      float* const most_row = most.row(y);
      float* const least_row = least.row(y);
      for (int x = 1; x < value.width - 1; ++x) {
        most_row[x] = std::max(row[x], std::max(row[x - 1], row[x + 1]));
        least_row[x] = std::min(row[x], std::min(row[x - 1], row[x + 1]));
      }
    }
  }

  Plane value;
  Plane most;
  Plane least;
};

// Three adjacent differences.
struct Cube {
  const Difference& below;
  const Difference& here;
  const Difference& above;
};

// Marks the pixels of a row that are brighter or darker than all 26 neighbours.
[[gnu::always_inline]] inline void mark_by(const Cube& cube, int y, float* marks) {
  const float* const row = cube.here.value.row(y);
  std::array<const float*, 8> most;
  std::array<const float*, 8> least;
  std::size_t count = 0;
  for (const Difference* level : {&cube.below, &cube.above, &cube.here}) {
    for (int dy = -1; dy <= 1; ++dy) {
      if (level == &cube.here && dy == 0) continue;
      most[count] = level->most.row(y + dy);
      least[count++] = level->least.row(y + dy);
    }
  }
  const int width = cube.here.value.width;
  for (int x = 1; x < width - 1; ++x) {
    float above = std::max(row[x - 1], row[x + 1]);
    float below = std::min(row[x - 1], row[x + 1]);
    for (std::size_t i = 0; i < 8; ++i) {
      above = std::max(above, most[i][x]);
      below = std::min(below, least[i][x]);
    }
    const float over = row[x] - std::max(above, kLeastResponse);
    const float under = std::min(below, -kLeastResponse) - row[x];
    marks[x] = std::max(over, under);
  }
}
#if defined(__x86_64__)
[[gnu::target("avx2")]] void mark_avx2(const Cube& cube, int y, float* marks) {
  mark_by(cube, y, marks);
}
#endif

void mark_extremes(const Cube& cube, int y, float* marks) {
#if defined(__x86_64__)
  if (widest_simd() >= Simd::kAvx2) return mark_avx2(cube, y, marks);
#endif
  mark_by(cube, y, marks);
}

bool is_edge(const Plane& here, int x, int y) {
  const auto at = [&](int dx, int dy) { return here.at(x + dx, y + dy); };
  const float xx = at(1, 0) + at(-1, 0) - 2 * at(0, 0);
  const float yy = at(0, 1) + at(0, -1) - 2 * at(0, 0);
  const float xy = (at(1, 1) - at(-1, 1) - at(1, -1) + at(-1, -1)) / 4;
  const float determinant = xx * yy - xy * xy;
  const float trace = xx + yy;
  return determinant <= 0 || trace * trace > kMostEdge * determinant;
}

// The share of a window that lies outside.
float share_outside(const Plane& picture, const Place& place) {
  const float reach = kWindowReach * place.scale;
  const auto inside = [reach](float at, int size) {
    return std::min(at + reach, static_cast<float>(size - 1)) - std::max(at - reach, 0.0F);
  };
  return 1 - inside(place.x, picture.width) * inside(place.y, picture.height) / (4 * reach * reach);
}

struct Blob {
  Place place;
  float response = 0;
};

// The blob at an extreme pixel, in pixels of its octave.
std::optional<Blob> blob_at(const Cube& cube, int level, int x, int y) {
  const Plane& here = cube.here.value;
  if (is_edge(here, x, y)) return {};
  const float value = here.at(x, y);
  Blob blob{.place = {}, .response = std::fabs(value)};
  blob.place.x = static_cast<float>(x) + vertex(here.at(x - 1, y), value, here.at(x + 1, y));
  blob.place.y = static_cast<float>(y) + vertex(here.at(x, y - 1), value, here.at(x, y + 1));
  const float between = vertex(cube.below.value.at(x, y), value, cube.above.value.at(x, y));
  blob.place.scale = scale_of(static_cast<float>(level) + between);
  if (share_outside(here, blob.place) > kMostOutside) return {};
  return blob;
}

void add_blobs(const std::vector<Plane>& levels, float pixel, std::vector<Blob>& blobs) {
  std::vector<Difference> differences;
  for (std::size_t k = 0; k + 1 < levels.size(); ++k) {
    differences.emplace_back(levels[k], levels[k + 1]);
  }
  std::vector<float> marks(static_cast<std::size_t>(levels.front().width));
  for (std::size_t k = 1; k + 1 < differences.size(); ++k) {
    const Cube cube{differences[k - 1], differences[k], differences[k + 1]};
    for (int y = 1; y < levels.front().height - 1; ++y) {
      mark_extremes(cube, y, marks.data());
      for (int x = 1; x < levels.front().width - 1; ++x) {
        if (marks[static_cast<std::size_t>(x)] <= 0) continue;
        auto blob = blob_at(cube, static_cast<int>(k), x, y);
        if (!blob) continue;
        blob->place.x *= pixel;
        blob->place.y *= pixel;
        blob->place.scale *= pixel;
        blobs.push_back(*blob);
      }
    }
  }
}

}  // namespace

float vertex(float before, float middle, float after) noexcept {
  const float bend = before + after - 2 * middle;
  if (bend == 0) return 0;
  return std::clamp(-(after - before) / 2 / bend, -0.6F, 0.6F);
}

ScaleSpace::ScaleSpace(const Plane& picture) {
  constexpr int kLevelsKept = kLevelsAnOctave + 3;  // a blob is compared with the levels around it
  for (int octave = 0; octave < kOctaves; ++octave) {
    std::vector<Plane> levels;
    if (octave == 0) {
      const float more = kLeastScale * kLeastScale - kScaleOfPicture * kScaleOfPicture;
      levels.push_back(blurred(picture, std::sqrt(more)));
    } else {
      levels.push_back(halved(octaves_.back()[kLevelsAnOctave]));
    }
    const int count = std::min(kLevelsKept, kLevels - octave * kLevelsAnOctave);
    for (int k = 1; k < count; ++k) {
      const float before = scale_of(static_cast<float>(k - 1));
      const float here = scale_of(static_cast<float>(k));
      levels.push_back(blurred(levels.back(), std::sqrt(here * here - before * before)));
    }
    octaves_.push_back(std::move(levels));
  }
}

ScaleSpace::Level ScaleSpace::at(int level) const {
  const int kept = std::clamp(level, 0, kLevels - 1);
  const int octave = std::min(kept / kLevelsAnOctave, kOctaves - 1);
  return {octaves_[static_cast<std::size_t>(octave)]
                  [static_cast<std::size_t>(kept - octave * kLevelsAnOctave)],
          static_cast<float>(1 << octave)};
}

int ScaleSpace::level_of(float scale) {
  return static_cast<int>(std::lround(kLevelsAnOctave * std::log2(scale / kLeastScale)));
}

std::vector<Place> ScaleSpace::blobs() const {
  std::vector<Blob> blobs;
  float pixel = 1;
  for (const std::vector<Plane>& levels : octaves_) {
    add_blobs(levels, pixel, blobs);
    pixel *= 2;
  }
  std::ranges::stable_sort(blobs, std::greater(), &Blob::response);
  std::vector<Place> places;
  for (const Blob& blob : blobs) places.push_back(blob.place);
  return places;
}

}  // namespace winnow::dedup
