#pragma once

#include "dedup/deduplicate.h"
#include "pipeline/store/cache.h"
#include "tools/choice_flags.h"
#include "tools/feature_flags.h"

namespace winnow::tools {

// What the images of a cache are compared by, as flags say: features, or codes that the flags or
// the images choose (settle), which --verify puts to the pictures. Puts it to `options`, and says
// what was chosen and what came of it.
//
// search   of codes, as with_search() gives it
// columns  those of the cache; with features they get these in place of codes
// Returns the links to go by.
// Throws   UsageError where there are no thumbnails or no such features; StoppedError
dedup::LinkSource settle_links(const Session& session, const ChoiceFlags& choice,
                               const FeatureFlags& features, const pipeline::Cache& cache,
                               const dedup::LinkSource& search, dedup::ColumnSource& columns,
                               dedup::Options& options);

}  // namespace winnow::tools
