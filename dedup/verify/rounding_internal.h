#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "dedup/verify/affine.h"
#include "dedup/verify/plane.h"

// Traces of compression in a picture's pixels, and overlays (better_picture.h).
namespace winnow::dedup::better {

// JPEG quantises the coefficients of blocks of 8 x 8 pixels.
constexpr int kSide = 8;
constexpr int kMostOrder = 4;  // sum of both frequencies
constexpr std::size_t kFrequencies = 14;
using Coefficients = std::array<std::vector<float>, kFrequencies>;  // by block, row by row

// Quantisation step of each JPEG frequency of a picture; 1 if none is visible.
using Steps = std::array<int, kFrequencies>;
constexpr std::size_t kFewBlocks = 60;

// A picture with its detected JPEG compression.
struct Compressed {
  explicit Compressed(const Plane& picture);

  const Plane& plane;
  Coefficients values;
  Steps steps;
  // How well coefficients fit quantisation steps: 1 if all are multiples of these, about 0 by
  // chance.
  std::array<double, kFrequencies> agrees;
};

// A block of 8 x 8 pixels, and the difference of two pictures there.
struct DifferentBlock {
  int left;
  int top;
  float off;       // root mean square of the difference
  float contrast;  // standard deviation of the one picture
};
std::vector<DifferentBlock> different_blocks(const Plane& picture, const Plane& difference);

float usual_off(const std::vector<DifferentBlock>& blocks);

// Share of the common blocks that differ far more than the others. Both pictures are reduced first,
// so that block boundaries and sharpness have no effect.
double altered_share(const Plane& a, const Plane& b, const Affine& map);

// A picture, and the aligned other one converted to its tones, in the common blocks that differ no
// more than compression explains.
struct BesideUpon {
  BesideUpon(const Compressed& picture, const Plane& toned);

  const Compressed& picture;
  Coefficients here;
  Coefficients upon;
};

// 0 if the difference between a picture and the aligned one is what the picture's own compression
// rounds away; otherwise the logarithm of the excess. nullopt if unknown.
std::optional<double> left_by_rounding(const BesideUpon& both);

// Evidence on whether one picture was made from the other, both at one scale.
struct MadeOf {
  // How well the coefficients of one picture fit the quantisation steps of the other: 1 for a copy
  // that is compressed with steps of its own, about 0 for no copy.
  double shows = 0;
  double weight = 0;  // number of informative coefficients
  int frequencies = 0;
  std::optional<double> left;  // left_by_rounding()
};
// one, other        Each with the aligned part of the other.
// are_blocks_alike  The blocks of both coincide.
MadeOf made_of(const BesideUpon& one, const BesideUpon& other, bool are_blocks_alike);

// Whether the first of two pictures with the same steps was compressed with them before the second.
// nullopt if unknown.
std::optional<bool> is_earlier(const Compressed& a, const Compressed& b);

}  // namespace winnow::dedup::better
