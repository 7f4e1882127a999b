#pragma once

#include <string>
#include <vector>

#include "app/session.h"
#include "common/json.h"
#include "pipeline/store/cache.h"

// The audit in winnow info (dedup/decisions/issues.h). All throw UsageError for an unknown issue,
// and for a cache from before the audit.

namespace winnow::app {

// Prints a table: number of images with each issue.
void print_issues(const Session& session, const pipeline::Cache& cache);
// Prints the images with one of these issues as CSV with scores, worst first.
void list_issues(const Session& session, const pipeline::Cache& cache,
                 const std::vector<std::string>& names);
// {"hash": ..., "counts": [{"issue": ..., "threshold": ..., "images": ...}], "images": [...]}.
// "images" only if there are `names`.
Json issues_json(const pipeline::Cache& cache, const std::vector<std::string>& names);

}  // namespace winnow::app
