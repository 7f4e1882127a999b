#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dedup/verify/plane.h"

namespace winnow::dedup {

// Where a landmark lies in a plane, how large it is and how it is turned. All four follow the
// picture when that is shifted, scaled, turned.
struct Place {
  float x = 0;
  float y = 0;
  float scale = 0;  // sigma of the blob in pixels
  float angle = 0;  // radians, of the steepest slope around it; from x towards y
};

inline constexpr int kLandmarkBits = 128;
inline constexpr std::size_t kLandmarkWords = kLandmarkBits / 64;
using LandmarkCode = std::array<std::uint64_t, kLandmarkWords>;

struct Landmark {
  Place place;
  LandmarkCode code{};  // of the window around it, turned upright
};

inline constexpr std::size_t kMostLandmarks =
    48;  // places; one may have two angles, each a landmark

// The windows of a picture by which a part of it is recognised: blobs, dark or bright, with the
// steepest response to differences of Gaussians (Lowe 2004), those first; and a code of each.
//
// A window reaches five times the scale to each side, so scales of 1 to 8 pixels give windows of a
// seventh of the picture up to all of it. Those that lie to more than 2/5 outside are left out.
//
// Code      bit 0..63: signs of the lowest cosines of the window; 64..127: whether a gradient
//           histogram of one of its 4x4 cells (half of Lowe's 128 numbers) is above their median.
// Near      two windows of one thing differ in about 10 bits, of two things in about 50
// A flat picture has none. Depends on the values alone: the same bits on any thread and machine.
std::vector<Landmark> find_landmarks(const Plane& picture);

// The code of the window seen in a mirror held along its angle.
LandmarkCode mirrored(const LandmarkCode& code) noexcept;

int distance(const LandmarkCode& a, const LandmarkCode& b) noexcept;  // bits, 0..128

}  // namespace winnow::dedup
