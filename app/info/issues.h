#pragma once

#include <string>
#include <vector>

#include "app/session.h"
#include "common/json.h"
#include "pipeline/store/cache.h"

// The audit of a cache for issues of images, as `winnow info` shows it (dedup/decisions/issues.h).
// All functions throw UsageError for an unknown issue, and for an older cache without an audit.

namespace winnow::app {

// Prints a table with the number of images that have each issue.
void print_issues(const Session& session, const pipeline::Cache& cache);
// Prints as CSV the images that have one of these issues, with scores, worst first.
void list_issues(const Session& session, const pipeline::Cache& cache,
                 const std::vector<std::string>& names);
// The audit as JSON: {"hash": ..., "counts": [{"issue": ..., "threshold": ..., "images": ...}],
// "images": [...]}. "images" only if `names` is not empty.
Json issues_json(const pipeline::Cache& cache, const std::vector<std::string>& names);

}  // namespace winnow::app
