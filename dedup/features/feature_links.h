#pragma once

#include <string_view>

#include "dedup/decisions/deduplicate.h"
#include "dedup/features/feature_table.h"
#include "dedup/features/neighbours.h"

namespace winnow::dedup {

// Input for deduplicate() that compares images by their feature vectors instead of hash codes.
//
// Distance   1000 * (1 - cosine) of two vectors, rounded: 0 to 2000. A threshold of 30 means a
//            cosine of at least 0.97.
// columns    The given columns, and a column of codes named kCosine, which has these distances.
// links      Pairs whose cosine reaches the threshold; equal vectors are linked to the first of
//            them only.
// No vector  An image without vector is linked to nothing. Its distance from any image is reported
//            as 0 because it is unknown.
inline constexpr std::string_view kCosine = "cosine";
struct FeatureLinks {
  ColumnSource columns;
  LinkSource links;
};
FeatureLinks compare_by(const FeatureTable& features, ColumnSource columns,
                        const NeighbourOptions& options = {});

// The threshold for deduplicate() that means this cosine. Throws UsageError unless the cosine is a
// whole number of thousandths, above 0 and at most 1.
int distance_of_cosine(double cosine);
double cosine_of_distance(int distance) noexcept;

}  // namespace winnow::dedup
