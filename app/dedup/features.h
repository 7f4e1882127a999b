#pragma once

#include <optional>
#include <string>

#include "app/dedup/choice.h"
#include "app/session.h"
#include "dedup/decisions/deduplicate.h"
#include "dedup/features/feature_table.h"
#include "pipeline/store/cache.h"

namespace winnow::app {

// Features in place of a hash.
struct FeatureOptions {
  std::string name;  // empty: a hash is compared
  std::optional<double> cosine;

  bool any() const noexcept { return !name.empty() || cosine.has_value(); }
};
// UsageError for one without the other, or beside flags that choose a hash.
void check_features(const FeatureOptions& flags, const ChoiceOptions& choice);

// Has `columns` and `options` compare by these features, which are in `table`, and says so; returns
// their search.
dedup::LinkSource by_features(const Session& session, const FeatureOptions& flags,
                              const dedup::FeatureTable& table, dedup::ColumnSource& columns,
                              dedup::Options& options);
// The same by those of the cache where `options`, as a selection has them, are of features; else
// `links`. Says nothing.
dedup::LinkSource by_features_of(const dedup::Options& options, const Session& session,
                                 const pipeline::Cache& cache, dedup::ColumnSource& columns,
                                 dedup::LinkSource links);

}  // namespace winnow::app
