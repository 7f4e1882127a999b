#pragma once

#include <string>

#include "dedup/verify/affine.h"

namespace winnow::dedup {

// Sides of a picture, in any unit: pixels, or 3 and 2.
struct PictureSides {
  double width = 1;
  double height = 1;
};

// A part of a picture by its box: 1 is a whole side.
struct SideShares {
  double width = 1;
  double height = 1;

  double area() const noexcept { return width * height; }
};

// What was done to a picture to get its copy.
struct Transformation {
  bool is_mirrored = false;  // left to right, before it is turned
  double degrees = 0;        // clockwise as people see it, above -180 and at most 180
  SideShares shown;          // of the kept picture, what the copy shows: less is a crop
  SideShares taken;          // of the copy, what the kept picture takes: less is a frame
};

// What the map of a verified pair says of the copy.
//
// map     of the copy to the kept picture, in shares of their sides; its determinant is not 0
// copy    sides of the copy, above 0; a turn in shares is none of the picture unless it is square
// kept    those of the kept picture
// Source  turn: the rotation nearest to the map (orthogonal Procrustes); parts: Sutherland-Hodgman
Transformation transformation_of(const Affine& map, PictureSides copy, PictureSides kept);

// In words, in this order: "mirrored, turned 90°, crop to 62 × 70 %, more around (80 × 80 %)", or
// "whole"; of the kept picture's width and height, and of the copy's. Sides of 98 % or more are
// whole, and turns of less than half a degree are none: registration is no more exact.
std::string words_of(const Transformation& what);

}  // namespace winnow::dedup
