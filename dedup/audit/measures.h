#pragma once

#include <cstdint>
#include <type_traits>

namespace winnow::dedup {

// Measurements of the decoded pixels of one picture, for the audit. Stored on disk in this layout
// (docs/formats/fingerprints.md).
// The first four and `colour` are measured on a regular grid of pixels.
// Brightness of a pixel, 0 to 1: sqrt(0.241 R^2 + 0.691 G^2 + 0.068 B^2) / 255.
struct Measures {
  float brightness_99 = 0;  // 99th percentile of brightness
  float brightness_5 = 0;   // 5th percentile of brightness
  float white = 0;          // share of pixels with all channels at 250 or more
  float entropy = 0;        // bits, of the values of all channels in one histogram
  // Standard deviation of the edges, 0..255, of the gray picture at 64 pixels.
  float edges = 0;
  // Standard deviation of its histogram's 256 counts; 0 where edges are 35 or more.
  float histogram = 0;
  float colour = 0;               // root mean square of (largest - smallest channel), 0 to 1
  std::uint32_t orientation = 1;  // EXIF orientation, 1 to 8; 1: upright, or unknown

  friend bool operator==(const Measures&, const Measures&) = default;
};
static_assert(std::is_trivially_copyable_v<Measures> && sizeof(Measures) == 32);

// Whether the values are possible: numbers, none negative, a valid orientation.
bool is_sound(const Measures& measures) noexcept;

// Whether a picture is colourless. A gray JPEG may have a little colour.
inline bool is_gray(const Measures& measures) noexcept { return measures.colour <= 0.02F; }

}  // namespace winnow::dedup
