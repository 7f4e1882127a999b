#pragma once

#include <optional>

#include "common/image.h"
#include "dedup/verify/affine.h"

namespace winnow::dedup {

// Reduces a picture to its colours: kColourSide x kColourSide pixels of three channels, whatever
// its aspect ratio. nullopt for a gray picture.
inline constexpr int kColourSide = 24;
std::optional<Image> colours_of(ImageView image);

// Colour difference of two aligned pictures, after correcting for one change of saturation and one
// colour cast: the distance in Cb and Cr, 0 to 255, that a share `share` of the places does not
// exceed. 0 if too few places overlap.
//
// a, b  From colours_of().
// map   From a to b, in shares of their sides.
// A pure function. Symmetric, except for rounding.
double colour_difference(const Image& a, const Image& b, const Affine& map, double share);

// Whether two pictures that look alike in gray differ in colour, as flags do, or goods sold in
// several colours.
// is_shown  Whether the pictures are shown to be alike everywhere; else part of one may be covered.
bool have_other_colours(const Image& a, const Image& b, const Affine& map, bool is_shown);

}  // namespace winnow::dedup
