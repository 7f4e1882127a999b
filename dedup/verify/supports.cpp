#include "dedup/verify/supports.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "common/error.h"
#include "dedup/verify/affine.h"

namespace winnow::dedup {
namespace {

constexpr int kMostSupport = 8;

// The landmarks of the same picture.
std::pair<std::uint32_t, std::uint32_t> range_around(const LandmarkTable& landmarks,
                                                     std::uint32_t landmark) {
  std::uint32_t begin = landmark;
  std::uint32_t end = landmark + 1;
  while (begin > 0 && landmarks.owner(begin - 1) == landmarks.owner(landmark)) --begin;
  while (end < landmarks.size() && landmarks.owner(end) == landmarks.owner(landmark)) ++end;
  return {begin, end};
}

// Whether a landmark may be the expected one.
bool is_about(const Place& place, const Place& expected) {
  constexpr float kTurn = 2 * std::numbers::pi_v<float>;
  constexpr float kMostTurn = 0.4F;
  constexpr float kMostScale = 1.4F;
  const float reach = 1.5F + 0.5F * place.scale;
  if (std::fabs(place.x - expected.x) > reach || std::fabs(place.y - expected.y) > reach ||
      place.scale > kMostScale * expected.scale || expected.scale > kMostScale * place.scale) {
    return false;
  }
  const float apart = (place.angle - expected.angle) / kTurn;
  return std::fabs(apart - std::round(apart)) * kTurn < kMostTurn;
}

// The number of other landmarks of a that lie near a similar one of b, if a is placed on b as a hit
// says.
int supports_of(const LandmarkTable& landmarks, const Hit& hit) {
  constexpr int kMostBits = 32;
  const auto of_a = range_around(landmarks, hit.landmark_a);
  const auto of_b = range_around(landmarks, hit.landmark_b);
  const Place seed = landmarks.place(hit.landmark_a);
  const Affine map = map_between(seed, landmarks.place(hit.landmark_b), hit.is_mirrored);
  const auto zoom = static_cast<float>(zoom_of(map));
  const auto turn = static_cast<float>(std::atan2(map.yx, map.xx));
  int count = 0;
  for (std::uint32_t i = of_a.first; i < of_a.second && count < kMostSupport; ++i) {
    const Place place = landmarks.place(i);
    if (std::fabs(place.x - seed.x) + std::fabs(place.y - seed.y) < 1) continue;
    const Place there{.x = static_cast<float>(map.x_of(place.x, place.y)),
                      .y = static_cast<float>(map.y_of(place.x, place.y)),
                      .scale = place.scale * zoom,
                      .angle = turn + (hit.is_mirrored ? -place.angle : place.angle)};
    for (std::uint32_t j = of_b.first; j < of_b.second; ++j) {
      if (!is_about(landmarks.place(j), there)) continue;
      const LandmarkCode code = landmarks.code(i);
      if (distance(hit.is_mirrored ? mirrored(code) : code, landmarks.code(j)) > kMostBits) {
        continue;
      }
      ++count;
      break;
    }
  }
  return count;
}

}  // namespace

std::vector<std::uint8_t> count_supports(const LandmarkTable& landmarks, std::span<const Hit> hits,
                                         const StopRequested& stop) {
  constexpr std::size_t kOfTask = 256;
  std::vector<std::uint8_t> supports(hits.size());
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, hits.size(), kOfTask),
                    [&](const tbb::blocked_range<std::size_t>& range) {
                      if (stop && stop()) {
                        throw StoppedError("stopped while landmarks were compared");
                      }
                      for (std::size_t i = range.begin(); i < range.end(); ++i) {
                        supports[i] = static_cast<std::uint8_t>(supports_of(landmarks, hits[i]));
                      }
                    });
  return supports;
}

std::vector<Hit> worth_trying(std::span<const Hit> hits, std::span<const std::uint8_t> supports) {
  constexpr int kVeryNear = 9;  // bits; few different things are that near
  std::vector<std::pair<int, Hit>> supported;
  for (std::size_t i = 0; i < hits.size(); ++i) {
    if (supports[i] >= (hits[i].distance <= kVeryNear ? 1 : 2)) {
      supported.emplace_back(-supports[i], hits[i]);
    }
  }
  std::ranges::stable_sort(supported, {}, [](const auto& pair) { return pair.first; });
  std::vector<Hit> best;
  for (const auto& [support, hit] : supported) best.push_back(hit);
  return best;
}

}  // namespace winnow::dedup
