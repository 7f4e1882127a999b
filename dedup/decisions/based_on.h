#pragma once

#include <memory>

#include "dedup/decisions/deduplicate.h"

namespace winnow::dedup {

// Deduplication on top of another selection of the same table, whose splits are used (as winnow
// split makes them).

// The table with the splits of `base`. Samples that `base` removes have no split.
// Errors  FormatError, when the table is read: it has other samples than `base`.
ColumnSource with_splits_of(std::shared_ptr<const Selection> base, ColumnSource columns);

// Merges `base` into what deduplicate() made of that table, so that the selection holds by itself.
//
// - What `base` removes stays removed, for the reason given there.
// - What is in one group of either selection is one group.
// - Every sample is used in its split of `base`, or in the split it was moved to.
//
// own  Splits of the table itself.
void merge_base(const Selection& base, std::span<const Split> own, Result& result);

}  // namespace winnow::dedup
