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
  double share = 0;       // size of the area relative to the common area
  double seam = 1;        // how much steeper the edge of the other picture is than its surroundings
  double least_seam = 1;  // seam at the side where it is weakest
  double flat = 0;        // share of the area's pixels that equal their neighbours
};

// Measures the area that a picture shows beyond the edge of another.
// map     From the other picture to this one, in shares of their sides.
// margin  Width of the examined strip around the other's edge, as a share of its side.
Beyond beyond(const Plane& plane, const Affine& map, double margin);

// The better picture by what each shows beyond the other.
std::optional<Better> by_extent(const Beyond& a, const Beyond& b, double least);

// Like by_extent(), for a thin margin around the other picture: a flat one was added.
std::optional<Better> by_extent_at_last(const Beyond& a, const Beyond& b, double least);

}  // namespace winnow::dedup::better
