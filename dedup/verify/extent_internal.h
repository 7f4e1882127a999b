#pragma once

#include <optional>

#include "dedup/verify/affine.h"
#include "dedup/verify/better_picture.h"
#include "dedup/verify/plane.h"

// Comparison of the areas that each of two pictures shows beyond the edge of the other
// (better_picture.h).
namespace winnow::dedup::better {

// The area that a picture shows beyond the edge of another.
struct Beyond {
  double share = 0;       // relative to the common area
  double seam = 1;        // how much steeper the edge is than its surroundings
  double least_seam = 1;  // for the side with the weakest seam
  double flat = 0;        // share of its pixels that equal their neighbours
};

// map     From the other picture to this one, in shares.
// margin  Around the other's edge, as a share of its side.
Beyond beyond(const Plane& plane, const Affine& map, double margin);

// The better picture by what each shows beyond the other.
std::optional<Better> by_extent(const Beyond& a, const Beyond& b, double least);

// by_extent() for a thin margin: a flat one was added.
std::optional<Better> by_extent_at_last(const Beyond& a, const Beyond& b, double least);

}  // namespace winnow::dedup::better
