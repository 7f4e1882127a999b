#pragma once

#include <string_view>

#include "dedup/deduplicate.h"
#include "dedup/features/feature_table.h"
#include "dedup/features/neighbours.h"

namespace winnow::dedup {

// Images compared by features in place of codes: what deduplicate() takes for that.
//
// Distance    of two images 1000 (1 - cosine), rounded: 0 to 2000. So a threshold of 30 is a cosine
//             of 0.97
// columns     those of the table, and one of codes named kCosine, which has these distances
// links       pairs whose cosine is at least that of the threshold, up to equal vectors
// No vector   such an image is linked to nothing, and its distance to any is 0: it is not known
inline constexpr std::string_view kCosine = "cosine";
struct FeatureLinks {
  ColumnSource columns;
  LinkSource links;
};
FeatureLinks compare_by(const FeatureTable& features, ColumnSource columns,
                        const NeighbourOptions& options = {});

// The distance that a cosine is. UsageError unless it is a number of thousandths, above 0 and at
// most 1.
int distance_of_cosine(double cosine);
double cosine_of_distance(int distance) noexcept;

}  // namespace winnow::dedup
