#pragma once

#include <functional>

#include "dedup/decisions/deduplicate.h"

namespace winnow::dedup {

// Calls `take` for every pair of rows a < b that deduplicate() links directly, with the bits
// between their codes (0 for equal files or pixels).
//
// Order     Sorted, on this thread.
// Verified  Pairs confirmed by comparing pictures may be further apart than the threshold.
// Scope     kWithin: only pairs inside a split. kAcross: only pairs of two splits.
// Reviews   Pairs that are apart are left out, also through rows that are the same as one of them.
//           Pairs that are the same are included whatever their distance.
// Errors    As deduplicate().
void for_each_pair(const ColumnSource& columns, const Options& options, const LinkSource& links,
                   const std::function<void(const Edge&)>& take);

}  // namespace winnow::dedup
