#pragma once

#include <array>
#include <optional>
#include <vector>

#include "dedup/verify/affine.h"
#include "dedup/verify/plane.h"

namespace winnow::dedup {

// A picture as it is registered: itself and what is made of it once. About 200 KB.
class Registrable {
 public:
  explicit Registrable(Plane picture);

  // A value, and how much it grows with x and with y; one number to fill.
  using Sloped = std::array<float, 4>;
  // Blurred by 2.2 pixels, to come near, and by 1, to come close.
  struct Level {
    Plane values;
    std::vector<Sloped> slopes;  // of each pixel
  };
  const Plane& picture() const noexcept { return picture_; }
  const Level& coarse() const noexcept { return coarse_; }
  const Level& fine() const noexcept { return fine_; }
  const Plane& details() const noexcept { return details_; }  // without what is coarse

 private:
  Plane picture_;
  Level coarse_;
  Level fine_;
  Plane details_;
};

// A picture and its details as they would be at a scale, zoom <= 1: those of one that is shown
// smaller elsewhere.
struct Softened {
  Plane picture;
  Plane details;
};
Softened soften(const Registrable& picture, double zoom);
inline constexpr double kSoftens = 0.93;  // below this scale a copy has visibly less details

// How two pictures look alike once one is laid upon the other. All by blocks of 8 to 10 pixels a
// side of the one of which less is shown; details only, so that a sky is not like a sky.
struct Evidence {
  double agreement = -1;  // correlation of the best blocks, 65 % of all that has details
  double mean = -1;       // of all
  double weight = 0;      // details there are to compare: more where more is at stake
  double overlap = 0;     // share of the blocks that the other picture has, too
  double zoom = 1;        // of the map, at most 1
  double stretch = 1;     // see stretch_of
};

struct Registration {
  Affine map;  // from the first picture's plane to the second's
  Evidence evidence;
};

// Lays `from` upon `to`, beginning with `guess`, which is right about `around` (of `from`) and
// perhaps not far from it.
//
// Method   Gauss-Newton on six numbers, coarse then fine (Lucas and Kanade 1981; Baker and Matthews
//          2004). Blocks are compared each by its own mean and contrast, and count as they
//          correlate: brightness, gamma, JPEG, overlays and what lies outside do not pull.
// Nothing  where too little correlates, or the map is no longer near a similarity
std::optional<Registration> register_pictures(const Registrable& from, const Registrable& to,
                                              const Affine& guess, const Place& around);

}  // namespace winnow::dedup
