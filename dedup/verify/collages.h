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
// Collage  Contains two pictures completely, without overlap. No other verified pairs make these
//          one picture. Along each of their sides inside the collage there is an abrupt change. (A
//          photo with two of its crops is thus no collage.)
// picture  Returns the gray picture of a row, the larger the better; called for few rows.
// Returns  The rows of collages, ascending.
std::vector<std::uint32_t> find_collages(std::span<const VerifiedPair> pairs,
                                         const std::function<Image(std::uint32_t row)>& picture);

// Whether one picture of the pair is a collage (`collages` ascends) that shows more than the other
// picture, or something else. False for two copies of one collage.
bool shows_part_of_collage(const VerifiedPair& pair, std::span<const std::uint32_t> collages);

}  // namespace winnow::dedup
