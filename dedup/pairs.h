#pragma once

#include <functional>

#include "dedup/deduplicate.h"

namespace winnow::dedup {

// Calls `take` for every pair of rows a < b that deduplicate() links, directly, with the bits
// between their codes, 0 where files or pixels are equal: sorted, on this thread. Pairs that
// pictures told may be further apart than the threshold. Under kWithin only pairs inside a split,
// under kAcross only pairs of two splits. Of options.decided: pairs that are apart are left out,
// also through what is the same as one of them; pairs that are the same are there however far apart
// their codes. Throws as deduplicate does.
void for_each_pair(const ColumnSource& columns, const Options& options, const LinkSource& links,
                   const std::function<void(const Edge&)>& take);

}  // namespace winnow::dedup
