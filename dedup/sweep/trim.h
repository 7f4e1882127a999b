#pragma once

#include <cstdint>

#include "dedup/table/selection.h"

namespace winnow::dedup {

// The number of samples that a selection thins, because another sample of their group represents
// them. By mode, a thinned sample is removed, or shares a weight, or takes turns with others.
std::uint64_t count_thinned(const Selection& selection) noexcept;

// `selection` with only `count` samples thinned, or all of them if there are fewer. Reaches shares
// that no threshold gives. Pure.
// The samples restored are those furthest from their representative; ties by a draw of `seed`. They
// are treated as if they had no duplicate. Weights and turns follow from the rest of each group.
// A smaller count thins a subset of what a larger one thins.
Selection trim(const Selection& selection, std::uint64_t count, std::uint64_t seed);

}  // namespace winnow::dedup
