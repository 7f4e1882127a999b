#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dedup/verify/plane.h"

namespace winnow::dedup {

// Position, size and direction of a landmark in a plane. All four follow the picture when it is
// shifted, scaled or turned.
struct Place {
  float x = 0;
  float y = 0;
  float scale = 0;  // sigma of the blob in pixels
  float angle = 0;  // radians from x towards y: the direction of the steepest slope around it
};

inline constexpr int kLandmarkBits = 128;
inline constexpr std::size_t kLandmarkWords = kLandmarkBits / 64;
using LandmarkCode = std::array<std::uint64_t, kLandmarkWords>;

struct Landmark {
  Place place;
  LandmarkCode code{};  // for the window around it, rotated upright
};

inline constexpr std::size_t kMostLandmarks =
    48;  // positions; one may have two angles, each of which is a landmark

// Landmarks of a picture, by which parts of it are recognised: dark or bright blobs with the
// strongest response to differences of Gaussians (Lowe 2004), strongest first; each with a code of
// its window.
//
// Window   Reaches five times the scale to each side; scales of 1 to 8 pixels give windows of a
//          seventh of the picture up to all of it. Windows more than 2/5 outside the picture are
//          left out.
// Code     Bits 0..63: signs of the lowest cosines of the window. Bits 64..127: whether an entry of
//          the gradient histograms of its 4x4 cells (half of Lowe's 128 numbers) is above their
//          median.
// Typical  Windows of one thing differ in about 10 bits, of different things in about 50.
// A flat picture has no landmarks. Depends on the values only: the same bits on any thread and
// machine.
std::vector<Landmark> find_landmarks(const Plane& picture);

// The code of the window mirrored along its angle.
LandmarkCode mirrored(const LandmarkCode& code) noexcept;

int distance(const LandmarkCode& a, const LandmarkCode& b) noexcept;  // bits, 0..128

}  // namespace winnow::dedup
