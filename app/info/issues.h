#pragma once

#include <string>
#include <vector>

#include "app/session.h"
#include "common/json.h"
#include "pipeline/store/cache.h"

// What winnow info says of the audit (dedup/decisions/issues.h). All that say something throw
// UsageError for an issue that does not exist, and where the cache was made before there was an
// audit.

namespace winnow::app {

// How many images have each issue, as a table for people.
void print_issues(const Session& session, const pipeline::Cache& cache);
// The images that have one of these, as CSV with scores; the worst first.
void list_issues(const Session& session, const pipeline::Cache& cache,
                 const std::vector<std::string>& names);
// {"hash": ..., "counts": [{"issue": ..., "threshold": ..., "images": ...}], "images": [...]}, the
// last where there are `names`.
Json issues_json(const pipeline::Cache& cache, const std::vector<std::string>& names);

}  // namespace winnow::app
