#pragma once

#include <memory>

#include "dedup/deduplicate.h"

namespace winnow::dedup {

// Deduplicating on top of another selection, of the same table: one that says to which splits
// samples belong, as winnow split makes them.

// The table with the splits of `base`; what that removes is of no split. Throws FormatError, when
// it is read, for a table of other samples.
ColumnSource with_splits_of(std::shared_ptr<const Selection> base, ColumnSource columns);

// Completes what deduplicate() made of that table, so that its selection holds by itself: what
// `base` removes stays removed, for the reason given there; what lies in one group of either is one
// group; every sample is used in the split of `base` or where it was moved. `own`: splits of the
// table itself.
void put_upon(const Selection& base, std::span<const Split> own, Result& result);

}  // namespace winnow::dedup
