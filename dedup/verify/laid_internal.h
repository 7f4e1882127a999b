#pragma once

#include <array>
#include <optional>
#include <vector>

#include "common/image.h"
#include "dedup/verify/affine.h"
#include "dedup/verify/plane.h"

// Aligned pictures, for comparison pixel by pixel (better_picture.h).
namespace winnow::dedup::better {

constexpr float kNothing = -1e9F;  // marks pixels that a picture does not cover

Plane as_plane(const Image& gray);

// The map from shares of a picture's sides to its pixels.
Affine to_pixels(const Plane& plane);

// Converts a map in shares to one in pixels, and back.
Affine pixel_map(const Affine& shares, const Plane& from, const Plane& to);

Affine share_map(const Affine& pixels, const Plane& from, const Plane& to);

// Resamples the picture `other` to the pixels of `onto`, by the map from `onto` to `other`.
// Catmull-Rom; kNothing outside the other picture.
Plane aligned_onto(const Plane& onto, const Plane& other, const Affine& map);

// Like aligned_onto(), for pictures of one scale and a map of whole pixels.
Plane moved_onto(const Plane& onto, const Plane& other, const Affine& map);

// The map that aligns both pictures by whole pixels, with quarter turns or mirroring; nullopt if
// their scales differ.
std::optional<Affine> whole_pixel_map(const Plane& a, const Plane& b, const Affine& map);

// The rotation of a map in radians, apart from quarter turns.
double turn_of(const Affine& map);

// `picture` minus the aligned other picture, where both exist.
Plane difference_where_seen(const Plane& picture, const Plane& upon);

// The median of the values (at least one).
double middle_of(std::vector<float> values);

// Transfers the gray values of one picture to those of another. Each value maps to the mean of the
// shortest half of the values found there, so that an overlay on part of the picture has no effect.
class Tones {
 public:
  Tones(const Plane& from, const Plane& to);

  float operator()(float value) const;
  Plane of(Plane plane) const;

 private:
  std::array<double, 256> at_{};
};

}  // namespace winnow::dedup::better
