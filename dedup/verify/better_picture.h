#pragma once

#include <optional>

#include "common/image.h"
#include "dedup/policy/preference.h"
#include "dedup/verify/affine.h"

namespace winnow::dedup {

// One of the two pictures of a comparison.
struct JudgedPicture {
  const Image* gray = nullptr;  // 1 channel
  bool is_whole_size = false;   // true: all pixels of the image; false: it was reduced
};

// Which of two pictures is better, and why.
struct Better {
  bool is_first = false;  // else the second
  KeptFor why = KeptFor::kFirst;
  bool is_sure = false;

  friend bool operator==(const Better&, const Better&) = default;
};

// Result of comparing two pictures pixel by pixel.
struct ComparedPictures {
  std::optional<Better> better;  // nullopt: the pixels show no difference
  double altered = 0;  // share of the common blocks that differ as if something was overlaid
  bool is_compressed_alike = false;  // if true, a larger file is no sign of less compression
};

// Decides by pixels which of two gray pictures of one scene is better. Criteria:
//
// Extent   If one picture shows more than the other, the area around is either more of the scene,
//          which is better, or was added, which is worse. An added area has a seam along the edge
//          of the other picture.
// Made of  If both have one scale: a picture was made from the other one if the JPEG quantisation
//          steps of the other are visible in it, or if both differ by no more than rounding to its
//          own steps explains.
// Overlay  Where both differ, the picture that has an outline there is the copy.
// Detail   Power of fine details at the scale of the larger picture, relative to coarser ones.
// Rest     Uniform noise, gray levels, blocking artifacts, clipping at black and white.
//
// map      From the first picture to the second, in shares of their sides.
// are_cut  Both are cut-outs of their common area, so Extent does not apply.
// Source   JPEG steps: Fan and de Queiroz 2003, "Identification of bitmap compression history".
// A pure function. Symmetric, except for rounding.
ComparedPictures better_picture(const JudgedPicture& a, const JudgedPicture& b, const Affine& map,
                                bool are_cut = false);

}  // namespace winnow::dedup
