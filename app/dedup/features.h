#pragma once

#include <optional>
#include <string>

#include "app/dedup/choice.h"
#include "app/session.h"
#include "dedup/decisions/deduplicate.h"
#include "dedup/features/feature_table.h"
#include "pipeline/store/cache.h"

namespace winnow::app {

// Options for comparing feature vectors instead of hash codes.
struct FeatureOptions {
  std::string name;  // name of the features; empty: hash codes are compared
  std::optional<double> cosine;

  bool any() const noexcept { return !name.empty() || cosine.has_value(); }
};
// Throws UsageError if only one of the two options is given, or together with options that choose a
// hash.
void check_features(const FeatureOptions& flags, const ChoiceOptions& choice);

// Makes `columns` and `options` compare the feature vectors of `table`, and tells the user. Returns
// the function that searches pairs.
dedup::LinkSource by_features(const Session& session, const FeatureOptions& flags,
                              const dedup::FeatureTable& table, dedup::ColumnSource& columns,
                              dedup::Options& options);
// Makes a search compare the feature vectors that a stored selection was made with, as
// by_features() does. Tells the user nothing. Returns `links` if the selection was made with hash
// codes.
dedup::LinkSource by_features_of(const dedup::Options& options, const Session& session,
                                 const pipeline::Cache& cache, dedup::ColumnSource& columns,
                                 dedup::LinkSource links);

}  // namespace winnow::app
