#pragma once

#include <span>

#include "dedup/table/selection.h"

namespace winnow::dedup {

// Set operations on two selections of the same samples. Pure functions.
//
// In       UsageError if the samples differ.
// Out      Has the name and the cache of `a`, and no settings.
// Samples  If a sample is removed, reason and representative are those of the first selection that
//          removes it.
// Groups   Samples in one group of either selection are in one group.
// Splits   From the selection that has splits of its own. UsageError if both have, and a sample
//          that both keep is in different splits.
// Mode     kOnePerGroup (an epoch uses one sample of each group) if `a` has it; in both(), also if
//          `b` has it.

// Keeps the samples that both selections keep. Weights are multiplied.
Selection both(const Selection& a, const Selection& b);
// Keeps the samples that at least one selection keeps, with the larger of both weights.
Selection either(const Selection& a, const Selection& b);
// Keeps the samples that `a` keeps and `b` removes.
Selection without(const Selection& a, const Selection& b);

// A selection with the groups of `selection` and these weights, one per row.
// A kept sample that gets weight 0 counts as removed by a person (Rule::kReview). A removed sample
// that gets a weight above 0 represents itself.
// Errors  UsageError if the number of weights is wrong, or a weight is negative or NaN.
Selection with_weights(const Selection& selection, std::span<const float> weights);

}  // namespace winnow::dedup
