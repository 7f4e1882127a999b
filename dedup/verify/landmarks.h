#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dedup/verify/plane.h"

namespace winnow::dedup {

// Position, size and direction of a landmark in its picture. They change with the picture when it
// is shifted, scaled or turned.
struct Place {
  float x = 0;
  float y = 0;
  float scale = 0;  // standard deviation (sigma) of the blob in pixels
  float angle = 0;  // direction of the steepest slope around it, in radians from x to y
};

inline constexpr int kLandmarkBits = 128;
inline constexpr std::size_t kLandmarkWords = kLandmarkBits / 64;
using LandmarkCode = std::array<std::uint64_t, kLandmarkWords>;

struct Landmark {
  Place place;
  LandmarkCode code{};  // binary descriptor of the window around the landmark, turned upright
};

// Maximum number of positions a picture; a position may have two angles, each of which is a
// landmark.
inline constexpr std::size_t kMostLandmarks = 48;

// Finds the landmarks of a picture: keypoints with binary descriptors (codes), by which parts of it
// are recognised. They are dark or bright blobs with the strongest response to differences of
// Gaussians (Lowe 2004), strongest first.
//
// Window   Each code describes a window that reaches five times the scale to each side. Scales of 1
//          to 8 pixels give windows of a seventh of the picture up to all of it. Windows more than
//          2/5 outside the picture are left out.
// Code     Bits 0..63: signs of the lowest DCT coefficients of the window. Bits 64..127: half of
//          the 128 numbers of Lowe's gradient histograms in 4x4 cells; 1 if a number is above their
//          median.
// Typical  Codes of the same thing differ in about 10 bits, of different things in about 50.
// A flat picture has no landmarks. The result depends on the gray values only: the same bits on any
// thread and machine.
std::vector<Landmark> find_landmarks(const Plane& picture);

// The code that the landmark's window would have if it was mirrored along its angle.
LandmarkCode mirrored(const LandmarkCode& code) noexcept;

int distance(const LandmarkCode& a, const LandmarkCode& b) noexcept;  // bits, 0..128

}  // namespace winnow::dedup
