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

  // Finds bright and dark blobs, strongest response first. Their angle is 0.
  std::vector<Place> blobs() const;

  struct Level {
    const Plane& plane;
    float pixel;  // size of a pixel of the plane in pixels of the picture
  };
  Level at(int level) const;         // or the nearest one there is
  static int level_of(float scale);  // the level with about this blur

 private:
  std::vector<std::vector<Plane>> octaves_;
};

// Where the parabola through three values has its vertex, relative to the middle one: -0.6 .. 0.6.
float vertex(float before, float middle, float after) noexcept;

}  // namespace winnow::dedup
