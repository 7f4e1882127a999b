#pragma once

#include <span>

#include "dedup/selection.h"

namespace winnow::dedup {

// Selections made of others of the same samples. Pure; all throw UsageError for selections of other
// samples than each other's. What is made has the name and the cache of `a`, and no settings.
//
// Samples    one that is left out has the reason, and the one that stands for it, of the first
//            selection that leaves it out
// Groups     what is one group in either is one group
// Splits     those of the one that has any of its own; UsageError where both have and use a sample
//            that both keep in different ones
// Turns      samples take turns (kOnePerGroup) where `a` has them do so, or in both() `b`

// What both keep, its weights multiplied.
Selection both(const Selection& a, const Selection& b);
// What one of them keeps, with the larger of its weights.
Selection either(const Selection& a, const Selection& b);
// What `a` keeps and `b` leaves out.
Selection without(const Selection& a, const Selection& b);

// The same groups with these weights, one a row. A sample that was kept and weighs nothing now was
// left out by a person (Rule::kReview); one that was left out and weighs something stands for
// itself. Throws UsageError for another number of weights, or one that is negative or no number.
Selection with_weights(const Selection& selection, std::span<const float> weights);

}  // namespace winnow::dedup
