#pragma once

#include <cstdint>
#include <memory>

#include "dedup/policy/preference.h"
#include "dedup/verify/verified_links.h"

namespace winnow::dedup {

inline constexpr std::uint64_t kMostWholePixels = std::uint64_t{1} << 21;

// Ranks linked pictures, which show the same, from best to worst.
//
// Pairs     Those that compare_for_best() requests are compared pixel by pixel (better_picture),
//           with pictures from `closer`. All other pairs, and those that pixels do not decide, are
//           decided by columns of the table.
// Pictures  At full size up to kMostWholePixels. Larger ones are reduced; if that gives no sure
//           result, their centres are compared at full size. Without `closer`: thumbnails.
// Memory    Each thread keeps the last 6 pictures it read, at most 2 MiB each.
// Errors    StoppedError.
// A pure function, for any number of threads.
std::shared_ptr<const PreferredOrder> best_order(const ColumnSource& columns,
                                                 const ThumbnailSource& thumbnails,
                                                 const VerifiedLinks& links,
                                                 const VerifyOptions& how);

}  // namespace winnow::dedup
