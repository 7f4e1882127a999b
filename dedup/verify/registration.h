#pragma once

#include <array>
#include <optional>
#include <vector>

#include "dedup/verify/affine.h"
#include "dedup/verify/plane.h"

namespace winnow::dedup {

// A picture prepared for registration (alignment with another), with the data derived from it.
// About 200 KB.
class Registrable {
 public:
  explicit Registrable(Plane picture);

  // A gray value, and its derivatives by x and y; the fourth number is padding.
  using Sloped = std::array<float, 4>;
  // The picture blurred by 2.2 pixels (for the coarse step) or by 1 pixel (for the fine step).
  struct Level {
    Plane values;
    std::vector<Sloped> slopes;  // for each pixel
  };
  const Plane& picture() const noexcept { return picture_; }
  const Level& coarse() const noexcept { return coarse_; }
  const Level& fine() const noexcept { return fine_; }
  const Plane& details() const noexcept { return details_; }  // without coarse structure

 private:
  Plane picture_;
  Level coarse_;
  Level fine_;
  Plane details_;
};

// A picture and its details as they would look at a smaller scale (zoom <= 1), to compare it with a
// picture that is shown smaller.
struct Softened {
  Plane picture;
  Plane details;
};
Softened soften(const Registrable& picture, double zoom);
inline constexpr double kSoftens = 0.93;  // below this scale a copy visibly has less detail

// How well two aligned pictures agree, by blocks of 8 to 10 pixels a side in the one shown at the
// smaller scale. Compares details only, so that two skies are not alike.
struct Evidence {
  double agreement = -1;  // correlation of the best 65 % of the blocks with details, -1 to 1
  double mean = -1;       // correlation of all blocks
  double weight = 0;      // amount of details compared
  double overlap = 0;     // share of the blocks that lie inside the other picture
  double zoom = 1;        // scale of the map between the pictures, at most 1
  double stretch = 1;     // see stretch_of()
};

struct Registration {
  Affine map;  // from the first picture's plane to the second's, in pixels
  Evidence evidence;
};

// Registers (aligns) two pictures: refines `guess`, a map from `from` to `to` that is accurate at
// the place `around` in `from`, and perhaps nearby.
//
// Method   Gauss-Newton on six parameters, coarse then fine (Lucas and Kanade 1981; Baker and
//          Matthews 2004). Each block is normalised by its mean and contrast, and weighted by its
//          correlation. Brightness, gamma, JPEG, overlays and non-overlapping parts therefore have
//          no effect.
// Returns  nullopt if too little correlates, or if the map is no longer near a similarity.
std::optional<Registration> register_pictures(const Registrable& from, const Registrable& to,
                                              const Affine& guess, const Place& around);

}  // namespace winnow::dedup
