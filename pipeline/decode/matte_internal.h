#pragma once

#include <algorithm>
#include <cstdint>

namespace winnow::pipeline {

// Composes one channel on an opaque background, as Pillow's alpha_composite does, rounding
// included.
inline std::uint8_t composed_over(int under, int colour, int alpha) {
  const int sum = (colour * alpha + under * (255 - alpha)) * 128 + (128 << 7);
  return static_cast<std::uint8_t>(((sum >> 8) + sum) >> 15);
}

// Divides a premultiplied colour by alpha, as Pillow does.
inline int divided(int colour, int alpha) {
  return alpha == 0 ? 0 : std::min(255, colour * 255 / alpha);
}

}  // namespace winnow::pipeline
