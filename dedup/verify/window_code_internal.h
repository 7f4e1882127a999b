#pragma once

#include "dedup/verify/landmarks.h"

namespace winnow::dedup {

inline constexpr float kWindowReach = 5;  // of a window to each side, in scales of its landmark

LandmarkCode code_of_window(const Plane& level, const Place& place);

// atan2(y, x) to 1e-4, the same bits with every libm.
float angle_of(float x, float y) noexcept;

}  // namespace winnow::dedup
