#pragma once

#include <array>
#include <cstddef>

namespace winnow::dedup {

// The low DCT frequencies of a picture in an orientation (hash_name.h), computed from those of the
// picture as it is: mirroring changes the sign of odd frequencies.
// The block begins with frequency kFirst on both axes; its rows are along y.
template <std::size_t kSide, std::size_t kFirst, class T>
std::array<T, kSide * kSide> turned(const std::array<T, kSide * kSide>& block, int orientation) {
  const std::size_t mirrored_x = orientation & 1;
  const std::size_t mirrored_y = orientation >> 1 & 1;
  std::array<T, kSide * kSide> out;
  for (std::size_t i = 0; i < kSide; ++i) {
    for (std::size_t j = 0; j < kSide; ++j) {
      const std::size_t y = (orientation & 4) != 0 ? j : i;
      const std::size_t x = (orientation & 4) != 0 ? i : j;
      const bool negative = ((mirrored_x * (x + kFirst) + mirrored_y * (y + kFirst)) & 1) != 0;
      out[i * kSide + j] = negative ? -block[y * kSide + x] : block[y * kSide + x];
    }
  }
  return out;
}

}  // namespace winnow::dedup
