#pragma once

#include <optional>

#include "common/image.h"
#include "dedup/policy/preference.h"
#include "dedup/verify/affine.h"

namespace winnow::dedup {

// One side of a comparison.
struct JudgedPicture {
  const Image* gray = nullptr;  // 1 channel
  bool is_whole_size = false;   // has all pixels of the image; else it was reduced
};

// Which of two pictures is better.
struct Better {
  bool is_first = false;  // else the second
  KeptFor why = KeptFor::kFirst;
  bool is_sure = false;

  friend bool operator==(const Better&, const Better&) = default;
};

// Result of comparing two pictures.
struct ComparedPictures {
  std::optional<Better> better;  // nullopt: pixels show no difference
  double altered = 0;  // share of the common blocks that differ as if something was overlaid
  bool is_compressed_alike = false;  // if so, file sizes tell no more
};

// Decides which of two gray pictures of one scene is better, by their pixels.
//
// map      From the first to the second, in shares of their sides.
// are_cut  Both are cut-outs of their common area, so that their surroundings tell nothing.
// Extent   What lies around the other picture is either more of the scene, or was added. If added,
//          there is a seam along the other picture's edge.
// Made of  For pictures of one scale. One was made from the other if the JPEG quantisation steps of
//          one are visible in the other; or if the difference of both, in the tones of one, is what
//          that one's steps round away.
// Overlay  Where both differ, the picture that has an outline there is the copy.
// Detail   Power of fine details at the scale of the larger picture, compared with coarser ones.
// Rest     Uniform noise, gray levels, blocking artifacts, clipping at black and white.
// Source   JPEG steps: Fan and de Queiroz 2003, "Identification of bitmap compression history".
//
// A pure function. Symmetric, except for rounding.
ComparedPictures better_picture(const JudgedPicture& a, const JudgedPicture& b, const Affine& map,
                                bool are_cut = false);

}  // namespace winnow::dedup
