#pragma once

#include <string>

#include "dedup/verify/affine.h"

namespace winnow::dedup {

// Width and height of a picture in any common unit, such as pixels, or 3 and 2.
struct PictureSides {
  double width = 1;
  double height = 1;
};

// Size of the bounding box of a part of a picture, as shares of the picture's sides: 1 is a full
// side.
struct SideShares {
  double width = 1;
  double height = 1;

  double area() const noexcept { return width * height; }
};

// How a copy differs from the picture that is kept.
struct Transformation {
  bool is_mirrored = false;  // mirrored left to right, before the rotation
  double degrees = 0;        // clockwise as seen, in (-180, 180]
  SideShares shown;          // part of the kept picture that is in the copy; below 1: a crop
  SideShares taken;          // part of the copy that shows the kept picture; below 1: a frame
};

// Describes the map of a verified pair as a transformation.
//
// map     From the copy to the kept picture, in shares of their sides; determinant not 0.
// copy    Sides of the copy, above 0. A rotation in shares is no rotation unless the picture is
//         square, so sides are needed.
// kept    Sides of the kept picture, above 0.
// Source  Rotation: the one nearest to the map (orthogonal Procrustes). Parts: Sutherland-Hodgman
//         clipping.
Transformation transformation_of(const Affine& map, PictureSides copy, PictureSides kept);

// A transformation in words, in this order: "mirrored, turned 90°, crop to 62 × 70 %, more around
// (80 × 80 %)", or "whole". Percentages of crops are of the kept picture's sides, those of
// surroundings of the copy's.
// Sides of 98 % or more count as whole, and rotations below half a degree as none: registration is
// no more exact.
std::string words_of(const Transformation& what);

}  // namespace winnow::dedup
