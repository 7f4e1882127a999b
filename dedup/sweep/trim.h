#pragma once

#include <cstdint>

#include "dedup/selection.h"

namespace winnow::dedup {

// The samples that another stands for: removed, or, by mode, sharing its weight or its turns.
std::uint64_t count_thinned(const Selection& selection) noexcept;

// The same selection with `count` of them thinned, or all if there are fewer. Those furthest from
// the one that stands for them are given back first, as if they had no duplicate; of equals by a
// draw of `seed`. Weights and turns of the others are those of what is left of their groups.
// So a share can be removed that no threshold removes. Less is thinned of what more would thin.
// Pure.
Selection trim(const Selection& selection, std::uint64_t count, std::uint64_t seed);

}  // namespace winnow::dedup
