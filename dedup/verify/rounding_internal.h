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
using Coefficients = std::array<std::vector<float>, kFrequencies>;  // by block, row by row

// The steps to which each frequency of a picture is rounded; 1 where none is seen.
using Steps = std::array<int, kFrequencies>;
constexpr std::size_t kFewBlocks = 60;

// A picture, and how it was compressed.
struct Compressed {
  explicit Compressed(const Plane& picture);

  const Plane& plane;
  Coefficients values;
  Steps steps;
  std::array<double, kFrequencies> agrees;  // how well the values do: 1 for all, about 0 by chance
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

// A picture, and what of another lies upon it, in its tones: of the blocks that both show and in
// which they differ no more than compression would have it.
struct BesideUpon {
  BesideUpon(const Compressed& picture, const Plane& toned);

  const Compressed& picture;
  Coefficients here;
  Coefficients upon;
};

// 0 where what is left between a picture and what lies upon it is what the picture's own
// compression rounds away; the logarithm of how much more it is. Nothing where it cannot be told.
std::optional<double> left_by_rounding(const BesideUpon& both);

// How far it fits that one picture was made of another, both of one scale.
struct MadeOf {
  // How far the one has its coefficients at steps of the other's compression: 1 as a
  // copy has that is compressed by steps of its own, about 0 where it is no copy.
  double shows = 0;
  double weight = 0;  // of coefficients that tell
  int frequencies = 0;
  std::optional<double> left;  // left_by_rounding()
};
// one, other        each with what of the other lies upon it
// are_blocks_alike  the blocks of both lie upon each other
MadeOf made_of(const BesideUpon& one, const BesideUpon& other, bool are_blocks_alike);

// Whether the first of two pictures of the same steps was compressed by them before the second
// was. Nothing where that is not seen.
std::optional<bool> is_earlier(const Compressed& a, const Compressed& b);

}  // namespace winnow::dedup::better
