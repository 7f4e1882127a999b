#pragma once

#include <string_view>

#include "dedup/decisions/deduplicate.h"
#include "dedup/features/feature_table.h"
#include "dedup/features/neighbours.h"

namespace winnow::dedup {

// Comparison of images by features instead of codes, in the form that deduplicate() takes.
//
// Distance   1000 (1 - cosine), rounded: 0 to 2000. A threshold of 30 is a cosine of 0.97.
// columns    Those of the table, and a column of codes named kCosine with these distances.
// links      Pairs whose cosine reaches the threshold, up to equal vectors.
// No vector  Such an image is linked to nothing. Its distance to any is reported as 0 because it is
//            unknown.
inline constexpr std::string_view kCosine = "cosine";
struct FeatureLinks {
  ColumnSource columns;
  LinkSource links;
};
FeatureLinks compare_by(const FeatureTable& features, ColumnSource columns,
                        const NeighbourOptions& options = {});

// The distance of a cosine. UsageError unless it is a whole number of thousandths, above 0 and at
// most 1.
int distance_of_cosine(double cosine);
double cosine_of_distance(int distance) noexcept;

}  // namespace winnow::dedup
