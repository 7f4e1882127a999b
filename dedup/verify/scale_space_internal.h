#pragma once

#include <vector>

#include "dedup/verify/landmarks.h"
#include "dedup/verify/plane.h"

namespace winnow::dedup {

// A picture blurred more and more, from 1 pixel on, three levels an octave; each octave has half
// the pixels a side of the one before (Lowe 2004). Level k is blurred by 2^(k/3) pixels.
class ScaleSpace {
 public:
  explicit ScaleSpace(const Plane& picture);

  // Bright or dark blobs, those with the steepest response first. Their angle is 0.
  std::vector<Place> blobs() const;

  struct Level {
    const Plane& plane;
    float pixel;  // pixels of the picture that one of the plane stands for
  };
  Level at(int level) const;         // or the nearest there is
  static int level_of(float scale);  // that is blurred about so much

 private:
  std::vector<std::vector<Plane>> octaves_;
};

// Where a parabola through three values has its vertex, from the middle one: -0.6 .. 0.6.
float vertex(float before, float middle, float after) noexcept;

}  // namespace winnow::dedup
