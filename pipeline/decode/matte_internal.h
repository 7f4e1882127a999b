#pragma once

#include <algorithm>
#include <cstdint>

namespace winnow::pipeline {

// One channel as Pillow's alpha_composite lays it upon an opaque one, rounding included.
inline std::uint8_t laid_upon(int under, int colour, int alpha) {
  const int sum = (colour * alpha + under * (255 - alpha)) * 128 + (128 << 7);
  return static_cast<std::uint8_t>(((sum >> 8) + sum) >> 15);
}

// As Pillow reads colours that are multiplied with their alpha.
inline int divided(int colour, int alpha) {
  return alpha == 0 ? 0 : std::min(255, colour * 255 / alpha);
}

}  // namespace winnow::pipeline
