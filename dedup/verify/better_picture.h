#pragma once

#include <optional>

#include "common/image.h"
#include "dedup/policy/preference.h"
#include "dedup/verify/affine.h"

namespace winnow::dedup {

// A picture that is compared with its copy.
struct JudgedPicture {
  const Image* gray = nullptr;  // 1 channel
  bool is_whole_size = false;   // has all pixels of the image; else it was made smaller
};

// That one of two pictures is better.
struct Better {
  bool is_first = false;  // else the second
  KeptFor why = KeptFor::kFirst;
  bool is_sure = false;

  friend bool operator==(const Better&, const Better&) = default;
};

// What two pictures tell beside each other.
struct ComparedPictures {
  std::optional<Better> better;  // nothing: pixels tell nothing
  double altered = 0;  // share of the blocks both show that differ as by something laid on
  bool is_compressed_alike = false;  // so that the size of neither file tells more
};

// Which of two gray pictures of one scene is the better, by what their pixels show.
//
// map      of the first to the second, in shares of their sides
// are_cut  parts of pictures, cut out where both show the same: what lies around tells nothing
// Extent   what lies around the other picture is more of the scene, or was added: then there is a
//          seam along the other picture's edge
// Made of  pictures of one scale. The steps that JPEG rounds one picture to are seen in the other,
//          too; or what is left between both, in the tones of one, is what the steps of that one
//          round away. Then one was made of the other, whatever was done to it
// Laid on  where both differ, the one that has an outline there is the copy
// Detail   power of fine details at the scale of the larger, beside that of coarser ones
// Rest     even noise, gray values, steps between blocks, and what is cut off at black and white
// Source   steps of JPEG: Fan and de Queiroz 2003, "Identification of bitmap compression history"
//
// A pure function; the same from either side, but for rounding.
ComparedPictures better_picture(const JudgedPicture& a, const JudgedPicture& b, const Affine& map,
                                bool are_cut = false);

}  // namespace winnow::dedup
