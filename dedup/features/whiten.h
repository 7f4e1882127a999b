#pragma once

#include <cstdint>

#include "dedup/features/feature_table.h"

namespace winnow::dedup {

inline constexpr std::uint32_t kMostWhitened = 4096;  // dimensions

// Whitens the vectors of a table: subtracts their mean and makes their components uncorrelated,
// with variance 1 over the images (Jégou and Chum 2012). Images are then not near because of what
// all have in common, and all components count alike.
//
// In       Mean and covariance are estimated from at most 65,536 evenly spaced rows.
// Out      Has the name, type and ids of `table`, except images whose vector is the mean. Each
//          component depends on those up to it (triangular factor of the covariance); any other
//          whitening would give the same cosines.
// Threads  TBB. The same bits for any number of threads.
// Errors   UsageError for more dimensions than kMostWhitened, or fewer rows than twice the
//          dimensions.
FeatureTable whitened(const FeatureTable& table);

}  // namespace winnow::dedup
