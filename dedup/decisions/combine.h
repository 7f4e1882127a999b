#pragma once

#include <span>

#include "dedup/table/selection.h"

namespace winnow::dedup {

// Operations that combine selections of the same samples. Pure functions.
//
// In       UsageError for selections of different samples.
// Out      Has the name and the cache of `a`, and no settings.
// Samples  A removed sample has the reason and the representative of the first selection that
//          removes it.
// Groups   Samples in one group of either selection are in one group.
// Splits   From the selection that has splits of its own. UsageError if both have them and use a
//          sample that both keep in different splits.
// Mode     kOnePerGroup if `a` has it; in both(), also if `b` has it.

// Keeps what both keep. Weights are multiplied.
Selection both(const Selection& a, const Selection& b);
// Keeps what at least one of them keeps, with the larger weight.
Selection either(const Selection& a, const Selection& b);
// Keeps what `a` keeps and `b` removes.
Selection without(const Selection& a, const Selection& b);

// The groups of `selection` with these weights, one per row.
// A kept sample that gets weight 0 counts as removed by a person (Rule::kReview). A removed sample
// that gets a positive weight represents itself.
// Throws UsageError for the wrong number of weights, and for one that is negative or NaN.
Selection with_weights(const Selection& selection, std::span<const float> weights);

}  // namespace winnow::dedup
