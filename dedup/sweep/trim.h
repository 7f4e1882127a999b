#pragma once

#include <cstdint>

#include "dedup/table/selection.h"

namespace winnow::dedup {

// The number of samples that another one represents: removed, or sharing its weight or its turns,
// depending on mode.
std::uint64_t count_thinned(const Selection& selection) noexcept;

// `selection` with only `count` samples thinned (or all, if there are fewer). This allows shares
// that no threshold reaches. Pure.
// Restored first are samples furthest from their representative; ties by a draw of `seed`. They are
// treated as if they had no duplicate. Weights and turns follow from what remains of each group.
// A smaller count thins a subset of what a larger one thins.
Selection trim(const Selection& selection, std::uint64_t count, std::uint64_t seed);

}  // namespace winnow::dedup
