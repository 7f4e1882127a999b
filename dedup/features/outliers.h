#pragma once

#include <cstdint>
#include <vector>

#include "dedup/features/feature_table.h"
#include "dedup/features/neighbours.h"

namespace winnow::dedup {

// How far from everything else each row is: the mean of 1 - cosine to its nearest rows, divided by
// the median of that over the rows where it is more than 0. So 1 is usual, 3 is three times as far
// as usual. 0: it equals all its nearest, or there is no other row.
std::vector<float> outlier_scores(const NearestRows& nearest);

// The same of the `k` nearest of each row (1 or more; 10 is usual).
std::vector<float> outlier_scores(const FeatureTable& table, int k,
                                  const NeighbourOptions& options = {});

}  // namespace winnow::dedup
