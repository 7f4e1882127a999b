#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dedup/features/feature_table.h"
#include "dedup/features/neighbours.h"
#include "dedup/index/index.h"

namespace winnow::dedup {

// Features of the images in an index. The index stores none: they come from the caches that were
// added to it.

// Maps a source in a feature table to a source of the index.
struct FeaturesOfSource {
  const FeatureTable* table = nullptr;
  std::uint32_t source_in_table = 0;
  std::uint32_t source_in_index = 0;
};

// The vectors of the index's live rows, by their ids in the index: the table that one cache of all
// these images would have. Live rows without a vector have none.
// from    At most one table for each source of the index.
// Errors  UsageError if a source with live rows has no table, and for vectors that cannot be
//         compared (other sizes, types or nets).
FeatureTable join_features(const StoredIndex& index, std::span<const FeaturesOfSource> from);

// A row of a table and its nearest row in an index by features.
struct FeatureMatch {
  std::uint32_t row = 0;
  SampleId id = 0;   // in the index; ties go to the lowest id
  float cosine = 0;  // 1 for equal files or pixels
  friend bool operator==(const FeatureMatch&, const FeatureMatch&) = default;
};

// A query by features.
struct FeatureQuestion {
  const FeatureTable& known;     // from the index, by join_features()
  const FeatureTable& of_asked;  // from the queried table; may have only some of its rows
  double cosine = 1;             // minimum cosine
  LeastQuality least_quality = {};
};

// The rows of a table that have a duplicate among the live rows of the index, ascending: equal
// files or pixels or, if both have enough quality and a vector, a cosine of at least `cosine`.
// Of pairs at exactly that cosine a share of NeighbourOptions::recall is found.
// Errors  UsageError for vectors that cannot be compared, as join_features(), and as find_pairs().
std::vector<FeatureMatch> find_by_features(const StoredIndex& index, const ColumnSource& asked,
                                           const FeatureQuestion& question,
                                           const NeighbourOptions& options = {});

}  // namespace winnow::dedup
