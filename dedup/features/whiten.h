#pragma once

#include <cstdint>

#include "dedup/features/feature_table.h"

namespace winnow::dedup {

inline constexpr std::uint32_t kMostWhitened = 4096;  // dimensions

// The vectors of `table` without what they have in common: less their mean, and with numbers that
// are uncorrelated and of variance 1 over the images (Jégou and Chum 2012). What all images share
// makes no two of them near then, and a number that tells little counts as much as another.
//
// In      Mean and covariance are of 65,536 rows at most, evenly spaced.
// Out     The same name, type and ids, but for images whose vector is the mean. Each number is of
//         those up to it (a triangular factor of the covariance): cosines are those of any
//         whitening.
// Threads Uses TBB's. The same bits for any number of them.
// Errors  UsageError for more dimensions than kMostWhitened, or fewer rows than twice the
//         dimensions.
FeatureTable whitened(const FeatureTable& table);

}  // namespace winnow::dedup
