#pragma once

#include <functional>

#include "dedup/deduplicate.h"

namespace winnow::dedup {

// Calls `take` for every pair of rows a < b that deduplicate() links, directly, with the bits
// between their codes, 0 where files or pixels are equal: sorted, on this thread. Under kWithin
// only pairs inside a split, under kAcross only pairs of two splits. Throws as deduplicate does.
void for_each_pair(const ColumnSource& columns, const Options& options, const LinkSource& links,
                   const std::function<void(const Edge&)>& take);

}  // namespace winnow::dedup
