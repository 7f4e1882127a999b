#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dedup/features/feature_table.h"
#include "dedup/features/neighbours.h"
#include "dedup/index/index.h"

namespace winnow::dedup {

// Features of the images in an index, which keeps none: those of the caches that were added to it.

// Which rows of a table are of a source of the index.
struct FeaturesOfSource {
  const FeatureTable* table = nullptr;
  std::uint32_t source_in_table = 0;
  std::uint32_t source_in_index = 0;
};

// The vectors of the index's live rows, by their ids there: the table that one cache of all these
// images would have. Live rows without a vector have none.
// `from`: at most one for a source of the index.
// UsageError where a source with live rows has none, and for vectors that do not compare: of
// several sizes, types or nets.
FeatureTable join_features(const StoredIndex& index, std::span<const FeaturesOfSource> from);

// A row of a table and the one of an index that is nearest to it by features.
struct FeatureMatch {
  std::uint32_t row = 0;
  SampleId id = 0;   // in the index; the lowest of those that are equally near
  float cosine = 0;  // 1 for equal files or pixels
  friend bool operator==(const FeatureMatch&, const FeatureMatch&) = default;
};

// What is asked by features.
struct FeatureQuestion {
  const FeatureTable& known;     // of the index, as join_features() gives it
  const FeatureTable& of_asked;  // of the table that is asked, some of its rows
  double cosine = 1;             // at least that
  LeastQuality least_quality = {};
};

// The rows of a table that have a duplicate among the live rows of the index, ascending: equal
// files or pixels or, where both have quality enough and a vector, a cosine of `cosine` or more.
// Of pairs just so near NeighbourOptions::recall are found.
// UsageError for vectors that do not compare, as join_features(), and as find_pairs().
std::vector<FeatureMatch> find_by_features(const StoredIndex& index, const ColumnSource& asked,
                                           const FeatureQuestion& question,
                                           const NeighbourOptions& options = {});

}  // namespace winnow::dedup
