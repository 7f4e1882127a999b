#pragma once

#include <optional>

#include "dedup/verify/affine.h"
#include "dedup/verify/better_picture.h"
#include "dedup/verify/plane.h"

// What one of two pictures shows beyond the edge of the other (better_picture.h).
namespace winnow::dedup::better {

// What a picture shows beyond the edge of another.
struct Beyond {
  double share = 0;       // of what both show
  double seam = 1;        // how much steeper the edge is than what lies along it
  double least_seam = 1;  // of the side where it is least
  double flat = 0;        // share of its pixels that are like their neighbours
};

// map  of the other picture to this one, in shares; margin: of a side of the other, about its edge
Beyond beyond(const Plane& plane, const Affine& map, double margin);

// What each shows that the other does not.
std::optional<Better> by_extent(const Beyond& a, const Beyond& b, double least);

// Where it is thin: what is flat was added.
std::optional<Better> by_extent_at_last(const Beyond& a, const Beyond& b, double least);

}  // namespace winnow::dedup::better
