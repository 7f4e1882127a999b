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

// How much more detail the first has than the second, both of one scale; nothing where too few
// blocks of both are seen.
std::optional<double> more_detail(const Plane& a, const Plane& b, const Affine& map);

// `is_whole_size`: both have all their pixels. For pictures that the map of whole pixels does not
// lay upon each other.
std::optional<Better> by_detail(const Plane& a, const Plane& b, const Affine& map,
                                bool is_whole_size);

}  // namespace winnow::dedup::better
