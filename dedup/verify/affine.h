#pragma once

#include <cmath>

#include "dedup/verify/landmarks.h"

namespace winnow::dedup {

// An affine map between the planes of two pictures: x' = xx x + xy y + x0, y' = yx x + yy y + y0.
struct Affine {
  double xx = 1;
  double xy = 0;
  double x0 = 0;
  double yx = 0;
  double yy = 1;
  double y0 = 0;

  double x_of(double x, double y) const noexcept { return xx * x + xy * y + x0; }
  double y_of(double x, double y) const noexcept { return yx * x + yy * y + y0; }
  double determinant() const noexcept { return xx * yy - xy * yx; }
  friend bool operator==(const Affine&, const Affine&) = default;
};

// Whether the map is (nearly) singular, so that it has no inverse.
inline bool is_flat(const Affine& map) noexcept { return std::fabs(map.determinant()) < 1e-6; }

// The inverse of `map`, which must not be flat (is_flat).
Affine inverse(const Affine& map) noexcept;
Affine after(const Affine& second, const Affine& first) noexcept;  // second(first(p))

// Scale factor of the map, sqrt(|determinant|): the width of one source pixel in target pixels.
double zoom_of(const Affine& map) noexcept;

// Anisotropy of the map from its singular values a and b: (a^2 + b^2) / 2ab. 1 for a similarity,
// 1.08 if one is 3/2 of the other.
double stretch_of(const Affine& map) noexcept;

// The similarity (shift, scale, rotation) that maps one landmark to another. is_mirrored: the
// picture of the second landmark is mirrored.
Affine map_between(const Place& from, const Place& to, bool is_mirrored) noexcept;

}  // namespace winnow::dedup
