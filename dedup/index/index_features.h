#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dedup/features/feature_table.h"
#include "dedup/features/neighbours.h"
#include "dedup/index/index.h"

namespace winnow::dedup {

// Feature vectors of the images in an index. The index stores none: they are read from the caches
// that were added to it.

// Which data set of a feature table is which data set of the index, by numbers.
struct FeaturesOfSource {
  const FeatureTable* table = nullptr;
  std::uint32_t source_in_table = 0;
  std::uint32_t source_in_index = 0;
};

// Collects the vectors of the index's live rows in one table, under their ids in the index. Live
// rows without a vector are left out.
// from    At most one table for each data set of the index.
// Errors  UsageError if a data set with live rows has no table, or if vectors cannot be compared
//         (other sizes, types or nets).
FeatureTable join_features(const StoredIndex& index, std::span<const FeaturesOfSource> from);

// A row of a queried table, and its nearest row in an index by features.
struct FeatureMatch {
  std::uint32_t row = 0;
  SampleId id = 0;   // image in the index; the lowest id on a tie
  float cosine = 0;  // cosine of both vectors; 1 for equal files or pixels
  friend bool operator==(const FeatureMatch&, const FeatureMatch&) = default;
};

// A query by features.
struct FeatureQuestion {
  const FeatureTable& known;     // vectors of the index, by join_features()
  const FeatureTable& of_asked;  // vectors of the queried table, perhaps of some rows only
  double cosine = 1;             // minimum cosine
  LeastQuality least_quality = {};
};

// Finds the rows of a table that have a duplicate among the live rows of the index: equal files or
// pixels or, if both have enough quality and a vector, a cosine of at least `cosine`. Rows ascend.
// The search is approximate: NeighbourOptions::recall is the expected share of pairs found at
// exactly that cosine.
// Errors  UsageError as join_features() for vectors that cannot be compared, and as find_pairs().
std::vector<FeatureMatch> find_by_features(const StoredIndex& index, const ColumnSource& asked,
                                           const FeatureQuestion& question,
                                           const NeighbourOptions& options = {});

}  // namespace winnow::dedup
