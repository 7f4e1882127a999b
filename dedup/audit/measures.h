#pragma once

#include <cstdint>
#include <type_traits>

namespace winnow::dedup {

// Measurements of the decoded pixels of one picture, which the audit judges. Stored in files in
// this layout (docs/formats/fingerprints.md).
// The first four and `colour` are measured on a regular grid of pixels.
// The brightness of a pixel is sqrt(0.241 R^2 + 0.691 G^2 + 0.068 B^2) / 255, 0 to 1.
struct Measures {
  float brightness_99 = 0;  // 99th percentile of brightness
  float brightness_5 = 0;   // 5th percentile of brightness
  float white = 0;          // share of pixels whose channels are all at least 250
  float entropy = 0;        // entropy in bits of one histogram of the values of all channels
  // Standard deviation of the edge image, 0..255, of the gray picture with a longer side of 64 px.
  float edges = 0;
  // Standard deviation of the 256 counts of the histogram of the reduced gray picture. 0 if `edges`
  // is 35 or more.
  float histogram = 0;
  float colour = 0;  // root mean square of (largest - smallest channel) of a pixel, 0 to 1
  std::uint32_t orientation = 1;  // EXIF orientation, 1 to 8; 1: upright or unknown

  friend bool operator==(const Measures&, const Measures&) = default;
};
static_assert(std::is_trivially_copyable_v<Measures> && sizeof(Measures) == 32);

// Whether the values are possible: finite, none negative, a valid orientation.
bool is_sound(const Measures& measures) noexcept;

// Whether a picture is without colour. The tolerance allows for gray JPEGs with a little colour.
inline bool is_gray(const Measures& measures) noexcept { return measures.colour <= 0.02F; }

}  // namespace winnow::dedup
