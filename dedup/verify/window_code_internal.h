#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "dedup/verify/landmarks.h"

namespace winnow::dedup {

// Size of a window to each side, in units of its landmark's scale.
inline constexpr float kWindowReach = 5;

LandmarkCode code_of_window(const Plane& level, const Place& place);

// atan2(y, x) to 1e-4, with the same bits on every C library.
inline float angle_of(float x, float y) noexcept {
  const float wide = std::fabs(x);
  const float high = std::fabs(y);
  const float most = std::max(wide, high);
  const float ratio = std::min(wide, high) / std::max(most, 1e-20F);
  const float square = ratio * ratio;
  // Least-squares polynomial of the arc tangent on 0..1.
  float angle =
      ((-0.0464964749F * square + 0.15931422F) * square - 0.327622764F) * square * ratio + ratio;
  angle = high > wide ? std::numbers::pi_v<float> / 2 - angle : angle;
  angle = x < 0 ? std::numbers::pi_v<float> - angle : angle;
  return y < 0 ? -angle : angle;
}

}  // namespace winnow::dedup
