#pragma once

#include <optional>

#include "dedup/verify/affine.h"
#include "dedup/verify/better_picture.h"
#include "dedup/verify/plane.h"

// How much detail and how many tones two pictures of one scene show (better_picture.h).
namespace winnow::dedup::better {

// Filters `picture` by blurring or sharpening so that it resembles `upon`, aligned with it. Widths
// and weights of the filter are fitted.
Plane filtered_like(const Plane& picture, const Plane& upon);

// Share of a picture's pixels that are clipped to black or white although the aligned other picture
// varies there.
double lost_at_ends(const Plane& picture, const Plane& upon);

// Entropy in bits of the gray values of a picture, where the other one overlaps.
double entropy(const Plane& picture, const Plane& upon);

// Ratio of the gradient at the borders of 8-pixel blocks to that inside them.
double blockiness(const Plane& plane);

// How much more detail the first picture has than the second, both at one scale; nullopt if too few
// common blocks are visible.
std::optional<double> more_detail(const Plane& a, const Plane& b, const Affine& map);

// The better picture by detail, for pictures that no map of whole pixels aligns.
// is_whole_size  Both have all their pixels.
std::optional<Better> by_detail(const Plane& a, const Plane& b, const Affine& map,
                                bool is_whole_size);

}  // namespace winnow::dedup::better
