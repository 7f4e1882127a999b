#pragma once

#include <memory>

#include "dedup/decisions/deduplicate.h"

namespace winnow::dedup {

// Deduplication on top of another selection of the same table, `base`, whose splits are used (such
// as those that winnow split made).

// The columns of the table, with the splits of `base` in place of its own. Samples that `base`
// removes have no split.
// Errors  FormatError, when columns are read: the table has other samples than `base`.
ColumnSource with_splits_of(std::shared_ptr<const Selection> base, ColumnSource columns);

// Merges `base` into a selection that deduplicate() made from the columns of based_on(), so that
// the result needs no other selection.
//
// - What `base` removes stays removed, for the reason that `base` gives.
// - Samples in one group of either selection are in one group.
// - Every sample is used in its split of `base`, or in the split that deduplicate() moved it to.
//
// own  The original splits of the table.
void merge_base(const Selection& base, std::span<const Split> own, Result& result);

}  // namespace winnow::dedup
