#pragma once

#include <cstdint>
#include <type_traits>

namespace winnow::dedup {

// What the audit measures of one picture, of the decoded pixels. On disk as it is here
// (docs/formats/fingerprints.md). The first four and `colour` are of pixels on a regular grid.
// Brightness of a pixel, 0 to 1: sqrt(0.241 R^2 + 0.691 G^2 + 0.068 B^2) / 255.
struct Measures {
  float brightness_99 = 0;  // percentile of brightness
  float brightness_5 = 0;   // likewise
  float white = 0;          // share of pixels of which each channel is 250 or more
  float entropy = 0;        // bits, of the values of all channels in one histogram
  float edges = 0;          // deviation of the edges, 0..255, of the gray picture at 64 pixels
  float histogram = 0;      // deviation of its histogram's 256 counts; 0 where edges are 35 or more
  float colour = 0;         // root mean square of largest less smallest channel, 0 to 1
  std::uint32_t orientation = 1;  // of EXIF, 1 to 8; 1: upright, or not said

  friend bool operator==(const Measures&, const Measures&) = default;
};
static_assert(std::is_trivially_copyable_v<Measures> && sizeof(Measures) == 32);

// Whether these can be of a picture: numbers, none negative, an orientation there is.
bool is_sound(const Measures& measures) noexcept;

// Whether a picture has no colours; a gray JPEG may have a little.
inline bool is_gray(const Measures& measures) noexcept { return measures.colour <= 0.02F; }

}  // namespace winnow::dedup
