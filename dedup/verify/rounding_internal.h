#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "dedup/verify/affine.h"
#include "dedup/verify/plane.h"

// What compression left in the pixels of a picture, and what was laid on (better_picture.h).
namespace winnow::dedup::better {

// What JPEG rounds: coefficients of blocks of 8 x 8 pixels.
constexpr int kSide = 8;
constexpr int kMostOrder = 4;  // of both directions together
constexpr std::size_t kFrequencies = 14;
using Coefficients = std::array<std::vector<float>, kFrequencies>;

// The steps to which each frequency of a picture is rounded; 1 where none is seen.
using Steps = std::array<int, kFrequencies>;
constexpr std::size_t kFewBlocks = 60;

// A picture, and how it was compressed.
struct Compressed {
  explicit Compressed(const Plane& picture);

  const Plane& plane;
  Coefficients values;
  Steps steps;
};

// A block of 8 x 8 pixels, and how two pictures differ there.
struct DifferentBlock {
  int left;
  int top;
  float off;       // root mean square
  float contrast;  // deviation of the one picture
};
std::vector<DifferentBlock> different_blocks(const Plane& picture, const Plane& difference);

float usual_off(const std::vector<DifferentBlock>& blocks);

// Share of the blocks that both show that differ far more than the others do. Both in few pixels,
// so that where blocks are cut and how sharp they are does not count.
double altered_share(const Plane& a, const Plane& b, const Affine& map);

// How well it fits that a picture was made of what lies upon it: 0 where what is left between them
// is what the picture's own compression rounds away; the logarithm of how much more it is. Nothing
// where it cannot be told.
std::optional<double> left_by_rounding(const Compressed& picture, const Plane& toned);

// How far a picture that lies upon another has coefficients where the other's compression puts its
// own: 1 where all are there, about 0 where none was made of the other.
double shows_steps_of(const Compressed& picture, const Plane& toned);

}  // namespace winnow::dedup::better
