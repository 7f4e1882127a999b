#pragma once

#include <cstdint>
#include <memory>

#include "dedup/policy/preference.h"
#include "dedup/verify/verified_links.h"

namespace winnow::dedup {

inline constexpr std::uint64_t kMostWholePixels = std::uint64_t{1} << 21;

// In which order pictures that are linked are to stay: better ones first.
//
// Pairs     those that compare_for_best asks for are compared pixel by pixel (better_picture), with
//           pictures of `closer`; the other pairs, and those that tell nothing, by columns
// Pictures  whole up to kMostWholePixels; larger ones are made smaller, and where nothing is sure
//           then, their middles are compared in all pixels. Without `closer`: thumbnails
// Memory    of each thread the 6 pictures it read last, 2 MiB each at most
// A pure function, for any number of threads. Errors: StoppedError.
std::shared_ptr<const PreferredOrder> best_order(const ColumnSource& columns,
                                                 const ThumbnailSource& thumbnails,
                                                 const VerifiedLinks& links,
                                                 const VerifyOptions& how);

}  // namespace winnow::dedup
