#pragma once

#include <vector>

#include "dedup/verify/landmarks.h"
#include "dedup/verify/plane.h"

namespace winnow::dedup {

// A Gaussian scale space, from 1 pixel on, three levels an octave; each octave has half the pixels
// a side of the one before (Lowe 2004). Level k has a blur of 2^(k/3) pixels.
class ScaleSpace {
 public:
  explicit ScaleSpace(const Plane& picture);

  // Bright and dark blobs, strongest response first. Their angle is 0.
  std::vector<Place> blobs() const;

  struct Level {
    const Plane& plane;
    float pixel;  // picture pixels for one pixel of the plane
  };
  Level at(int level) const;         // or the nearest one there is
  static int level_of(float scale);  // the level with about this blur

 private:
  std::vector<std::vector<Plane>> octaves_;
};

// The vertex of a parabola through three values, relative to the middle one: -0.6 .. 0.6.
float vertex(float before, float middle, float after) noexcept;

}  // namespace winnow::dedup
