#pragma once

#include <string>

#include "dedup/verify/affine.h"

namespace winnow::dedup {

// Sides of a picture in any unit: pixels, or 3 and 2.
struct PictureSides {
  double width = 1;
  double height = 1;
};

// The bounding box of a part of a picture; 1 is a full side.
struct SideShares {
  double width = 1;
  double height = 1;

  double area() const noexcept { return width * height; }
};

// How a copy differs from the kept picture.
struct Transformation {
  bool is_mirrored = false;  // left to right, before the rotation
  double degrees = 0;        // clockwise as seen, in (-180, 180]
  SideShares shown;          // part of the kept picture that the copy shows: less than 1 is a crop
  SideShares taken;          // part of the copy that the kept picture fills: less than 1 is a frame
};

// The transformation that the map of a verified pair describes.
//
// map     From the copy to the kept picture, in shares of their sides; determinant not 0.
// copy    Its sides, above 0. They are needed because a rotation in shares is no rotation unless
//         the picture is square.
// kept    Sides of the kept picture.
// Source  Rotation: the one nearest to the map (orthogonal Procrustes). Parts: Sutherland-Hodgman
//         clipping.
Transformation transformation_of(const Affine& map, PictureSides copy, PictureSides kept);

// The transformation in words, in this order: "mirrored, turned 90°, crop to 62 × 70 %, more around
// (80 × 80 %)", or "whole". Percentages are of the kept picture's sides, then of the copy's.
// Sides of 98 % or more count as whole, and rotations below half a degree as none: registration is
// no more exact.
std::string words_of(const Transformation& what);

}  // namespace winnow::dedup
