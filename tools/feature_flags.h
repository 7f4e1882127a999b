#pragma once

#include <optional>
#include <string>

#include "dedup/deduplicate.h"
#include "dedup/features/feature_table.h"
#include "pipeline/store/cache.h"
#include "tools/choice_flags.h"
#include "tools/command.h"
#include "tools/flags/flags.h"

namespace winnow::tools {

// Features in place of a hash.
struct FeatureFlags {
  std::string name;  // empty: a hash is compared
  std::optional<double> cosine;

  bool any() const noexcept { return !name.empty() || cosine.has_value(); }
};
// --features and --cosine.
void add_feature_flags(Verb verb, FeatureFlags& flags);
// UsageError for one without the other, or beside flags that choose a hash.
void check_features(const FeatureFlags& flags, const ChoiceFlags& choice);

// Has `columns` and `options` compare by these features, which are in `table`, and says so; returns
// their search.
dedup::LinkSource by_features(const Session& session, const FeatureFlags& flags,
                              const dedup::FeatureTable& table, dedup::ColumnSource& columns,
                              dedup::Options& options);
// The same by those of the cache where `options`, as a selection has them, are of features; else
// `links`. Says nothing.
dedup::LinkSource by_features_of(const dedup::Options& options, const Session& session,
                                 const pipeline::Cache& cache, dedup::ColumnSource& columns,
                                 dedup::LinkSource links);

}  // namespace winnow::tools
