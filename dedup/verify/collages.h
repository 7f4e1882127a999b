#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "common/image.h"
#include "dedup/verify/judge.h"

namespace winnow::dedup {

// Finds collages among verified pairs: pictures that show two others beside each other. A collage
// is a copy of neither.
//
// Two pictures lie whole in it, apart from each other; they are not one picture by other pairs; and
// along each side of theirs that lies inside it, it changes at once. By that a photo with two of
// its crops is no collage.
//
// picture  gives the gray picture of a row, the larger the better; called for few rows
// Returns  their rows, ascending
std::vector<std::uint32_t> find_collages(std::span<const VerifiedPair> pairs,
                                         const std::function<Image(std::uint32_t row)>& picture);

// Whether one of the pair is among the collages, which ascend, and shows more than the other or
// something else. Two copies of one collage do not.
bool shows_part_of_collage(const VerifiedPair& pair, std::span<const std::uint32_t> collages);

}  // namespace winnow::dedup
