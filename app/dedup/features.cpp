#include "app/dedup/features.h"

#include <fmt/format.h>

#include <utility>

#include "app/dedup/search.h"
#include "common/error.h"
#include "dedup/features/feature_links.h"
#include "pipeline/store/features.h"

namespace winnow::app {
namespace {

// Makes `columns` compare these features. Returns the search.
dedup::LinkSource links_by(const dedup::FeatureTable& table, const Session& session,
                           dedup::ColumnSource& columns) {
  const dedup::SearchOptions search = search_options(session);
  dedup::FeatureLinks by = dedup::compare_by(table, std::move(columns),
                                             {.progress = search.progress, .stop = search.stop});
  columns = std::move(by.columns);
  return std::move(by.links);
}

}  // namespace

void check_features(const FeatureOptions& flags, const ChoiceOptions& choice) {
  if (!flags.any()) return;
  if (flags.name.empty()) throw UsageError("--cosine needs --features NAME");
  pipeline::check_features_name(flags.name);
  if (!flags.cosine) {
    throw UsageError(
        "--features needs --cosine, the smallest cosine of duplicates, such as 0.97. No value "
        "suits all nets: list pairs with --list-pairs and look at them");
  }
  dedup::distance_of_cosine(*flags.cosine);
  if (choice.hash != kAuto || choice.threshold || choice.risk || choice.precision) {
    throw UsageError(
        "--features are compared instead of a hash; leave out --hash, --threshold, --risk and "
        "--precision");
  }
}

dedup::LinkSource by_features(const Session& session, const FeatureOptions& flags,
                              const dedup::FeatureTable& table, dedup::ColumnSource& columns,
                              dedup::Options& options) {
  options.hash = dedup::kCosine;
  options.threshold = dedup::distance_of_cosine(*flags.cosine);
  options.matching.features = flags.name;
  dedup::LinkSource links = links_by(table, session, columns);
  say(session, fmt::format("comparing features '{}': pairs with a cosine of {} or more are "
                           "duplicates; the search is expected to find 99.9 % of them or more",
                           flags.name, *flags.cosine));
  return links;
}

dedup::LinkSource by_features_of(const dedup::Options& options, const Session& session,
                                 const pipeline::Cache& cache, dedup::ColumnSource& columns,
                                 dedup::LinkSource links) {
  if (options.matching.features.empty()) return links;
  return links_by(pipeline::read_features(cache, options.matching.features), session, columns);
}

}  // namespace winnow::app
