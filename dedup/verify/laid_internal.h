#pragma once

#include <array>
#include <optional>
#include <vector>

#include "common/image.h"
#include "dedup/verify/affine.h"
#include "dedup/verify/plane.h"

// Pictures that are laid upon each other, to be compared pixel by pixel (better_picture.h).
namespace winnow::dedup::better {

constexpr float kNothing = -1e9F;  // of a pixel that a picture does not have

Plane as_plane(const Image& gray);

// From shares of the sides to pixels, and back.
Affine to_pixels(const Plane& plane);

// The same map between pixels, and between shares.
Affine pixel_map(const Affine& shares, const Plane& from, const Plane& to);

Affine share_map(const Affine& pixels, const Plane& from, const Plane& to);

// What comes to lie upon the pixels of a picture: of another one, by the map from the first to it.
// By Catmull-Rom; kNothing beyond the other.
Plane laid_upon(const Plane& onto, const Plane& other, const Affine& map);

// The same where both have one scale and the map moves whole pixels.
Plane moved_upon(const Plane& onto, const Plane& other, const Affine& map);

// The map of whole pixels, turned by quarters or mirrored, that lays both upon each other; nothing
// where they have not one scale.
std::optional<Affine> whole_pixel_map(const Plane& a, const Plane& b, const Affine& map);

// By how much a map turns a picture, beside the nearest quarters, in radians.
double turn_of(const Affine& map);

// `picture` less what lies upon it.
Plane difference_where_seen(const Plane& picture, const Plane& upon);

// The value in the middle of some, at least one.
double middle_of(std::vector<float> values);

// Brings the gray values of one picture to those of another: of each value the mean of the shortest
// half of what lies upon it, so that what covers a part of the picture does not pull.
class Tones {
 public:
  Tones(const Plane& from, const Plane& to);

  float operator()(float value) const;
  Plane of(Plane plane) const;

 private:
  std::array<double, 256> at_{};
};

}  // namespace winnow::dedup::better
