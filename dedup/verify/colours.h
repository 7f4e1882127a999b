#pragma once

#include <optional>

#include "common/image.h"
#include "dedup/verify/affine.h"

namespace winnow::dedup {

// The colours of a picture: kColourSide x kColourSide pixels of three channels, whatever the ratio
// of its sides. Nothing for a gray one.
inline constexpr int kColourSide = 24;
std::optional<Image> colours_of(ImageView image);

// What of their colours one change of saturation and one cast leave unexplained, once one picture
// is laid upon the other: the least distance of Cb and Cr, 0 to 255, that so large a share of the
// places has at most. 0 where too few places lie in both.
//
// a, b    as colours_of() gives them
// map     of a to b, in shares of their sides
// A pure function; the same, but for rounding, from either side.
double colour_difference(const Image& a, const Image& b, const Affine& map, double share);

// Whether two pictures that look alike in gray differ in colour, as flags and wares in several
// colours do. `is_shown`: they are shown to be alike everywhere; else a part of one may be covered.
bool have_other_colours(const Image& a, const Image& b, const Affine& map, bool is_shown);

}  // namespace winnow::dedup
