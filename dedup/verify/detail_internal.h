#pragma once

#include <optional>

#include "dedup/verify/affine.h"
#include "dedup/verify/better_picture.h"
#include "dedup/verify/plane.h"

// How much two pictures show of one scene: details and tones (better_picture.h).
namespace winnow::dedup::better {

// Of a picture, with what lies upon it: what a filter as blurring and sharpening are, of its own
// widths and weights, makes of the other.
Plane filtered_like(const Plane& picture, const Plane& upon);

// Share of pixels that are as dark or as bright as can be where what lies upon them differs.
double lost_at_ends(const Plane& picture, const Plane& upon);

// Bits of the gray values of a picture, where something lies upon it.
double entropy(const Plane& picture, const Plane& upon);

// How much steeper a picture is between blocks of 8 pixels than inside them.
double blockiness(const Plane& plane);

// `is_whole_size`: both have all their pixels.
// whole: the map moves whole pixels; least: of the detail that one has more, where it does
std::optional<Better> by_detail(const Plane& a, const Plane& b, const Affine& map,
                                bool is_whole_size, bool whole, double least_where_whole);

}  // namespace winnow::dedup::better
