#pragma once

#include <optional>
#include <string>

#include "app/dedup/choice.h"
#include "app/session.h"
#include "dedup/decisions/deduplicate.h"
#include "dedup/features/feature_table.h"
#include "pipeline/store/cache.h"

namespace winnow::app {

// Features that are compared in place of a hash.
struct FeatureOptions {
  std::string name;  // empty: a hash is compared
  std::optional<double> cosine;

  bool any() const noexcept { return !name.empty() || cosine.has_value(); }
};
// Throws UsageError: one flag without the other, or together with flags that choose a hash.
void check_features(const FeatureOptions& flags, const ChoiceOptions& choice);

// Makes `columns` and `options` compare the features of `table`, and says so. Returns the search.
dedup::LinkSource by_features(const Session& session, const FeatureOptions& flags,
                              const dedup::FeatureTable& table, dedup::ColumnSource& columns,
                              dedup::Options& options);
// As by_features(), for the features that the options of a selection name. Returns `links` if they
// name none.
// Prints nothing.
dedup::LinkSource by_features_of(const dedup::Options& options, const Session& session,
                                 const pipeline::Cache& cache, dedup::ColumnSource& columns,
                                 dedup::LinkSource links);

}  // namespace winnow::app
