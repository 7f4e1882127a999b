#pragma once

#include <cstdint>

#include "dedup/features/feature_table.h"

namespace winnow::dedup {

inline constexpr std::uint32_t kMostWhitened = 4096;  // dimensions

// The vectors of `table`, whitened: less their mean, and with uncorrelated components of variance 1
// over the images (Jégou and Chum 2012). What all images share no longer makes them near, and all
// components count alike.
//
// In       Mean and covariance are estimated from at most 65,536 evenly spaced rows.
// Out      The same name, type and ids, without images whose vector is the mean. Each component
//          depends on those up to it (triangular factor of the covariance). Cosines equal those of
//          any whitening.
// Threads  TBB. The same bits for any number of threads.
// Errors   UsageError for more dimensions than kMostWhitened, or fewer rows than twice the
//          dimensions.
FeatureTable whitened(const FeatureTable& table);

}  // namespace winnow::dedup
