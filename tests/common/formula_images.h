#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

#include "common/image.h"

namespace winnow::test {

// An image made by an integer formula, so that other programs can make the same: "ramp", "lcg"
// (noise), "blob" or "tri". Three channels.
inline Image formula_image(std::string_view kind, int width, int height) {
  Image image(height, width, 3);
  std::uint32_t state = 1;
  std::uint8_t* to = image.pixels.data();
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < 3; ++c) {
        int value = 0;
        if (kind == "ramp") {
          value = (7 * x + 3 * y + 11 * c) & 255;
        } else if (kind == "lcg") {
          state = state * 1103515245U + 12345U;
          value = static_cast<int>(state >> 16 & 255);
        } else if (kind == "blob") {
          const std::int64_t dx = x - width / 3;
          const std::int64_t dy = y - height / 2;
          const std::int64_t far =
              (dx * dx + dy * dy) * (c + 1) * 255 / (std::int64_t{width} * height);
          value = 255 - static_cast<int>(std::min<std::int64_t>(255, far));
        } else {
          value = std::abs((5 * x + 2 * y + 37 * c + x * y / 16) % 510 - 255);
        }
        *to++ = static_cast<std::uint8_t>(value);
      }
    }
  }
  return image;
}

// FNV-1a with 64 bits: short enough to be reimplemented where golden values are made.
inline std::uint64_t fnv1a(std::span<const std::uint8_t> bytes) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const std::uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001B3;
  return hash;
}

}  // namespace winnow::test
