#pragma once

#include <functional>

#include "dedup/decisions/deduplicate.h"

namespace winnow::dedup {

// Visits every pair of rows a < b that deduplicate() links directly, with the distance of their
// codes in bits (0 for equal files or pixels).
//
// Order     Sorted; `take` is called on this thread.
// Verified  Pairs confirmed by comparing pictures may be further apart than the threshold.
// Scope     kWithin: only pairs of one split. kAcross: only pairs of two splits.
// Reviews   Pairs that a review calls different are left out, also if it does so through rows that
//           are one picture with one of them. Pairs that it calls one picture are visited whatever
//           their distance.
// Errors    As deduplicate().
void for_each_pair(const ColumnSource& columns, const Options& options, const LinkSource& links,
                   const std::function<void(const Edge&)>& take);

}  // namespace winnow::dedup
