#pragma once

#include <algorithm>
#include <cstdint>

namespace winnow::pipeline {

// One channel composed on an opaque one, as by Pillow's alpha_composite, rounding included.
inline std::uint8_t composed_over(int under, int colour, int alpha) {
  const int sum = (colour * alpha + under * (255 - alpha)) * 128 + (128 << 7);
  return static_cast<std::uint8_t>(((sum >> 8) + sum) >> 15);
}

// Reverts premultiplication by alpha, as Pillow does.
inline int divided(int colour, int alpha) {
  return alpha == 0 ? 0 : std::min(255, colour * 255 / alpha);
}

}  // namespace winnow::pipeline
