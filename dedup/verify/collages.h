#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "common/image.h"
#include "dedup/verify/judge.h"

namespace winnow::dedup {

// Finds collages among verified pairs: pictures that show two others side by side. A collage is a
// copy of neither.
//
// Collage  Contains two pictures completely, without overlap. These are not one picture by other
//          pairs. Along each of their sides inside the collage there is an abrupt change. (A photo
//          with two of its crops is thus no collage.)
// picture  Returns the gray picture of a row, the larger the better; called for few rows.
// Returns  Rows of collages, ascending.
std::vector<std::uint32_t> find_collages(std::span<const VerifiedPair> pairs,
                                         const std::function<Image(std::uint32_t row)>& picture);

// Whether one picture of the pair is among the collages (ascending) and shows more than the other,
// or something else. Two copies of one collage do not count.
bool shows_part_of_collage(const VerifiedPair& pair, std::span<const std::uint32_t> collages);

}  // namespace winnow::dedup
