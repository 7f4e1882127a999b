#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/store/cache.h"
#include "tools/flags/flags.h"

// What winnow info says of the audit (dedup/audit/issues.h). All that say something throw
// UsageError for an issue that does not exist, and where the cache was made before there was an
// audit.
namespace winnow::tools {

// --issues, with names or without: then it has none. `issues` must live as long as `verb`.
Flag add_issues_flag(Verb verb, std::optional<std::vector<std::string>>& issues,
                     const std::string& help);

// How many images have each issue, as a table for people.
void print_issues(const pipeline::Cache& cache);
// The images that have one of these, as CSV with scores; the worst first.
void list_issues(const pipeline::Cache& cache, const std::vector<std::string>& names);
// {"hash": ..., "counts": [{"issue": ..., "threshold": ..., "images": ...}], "images": [...]}, the
// last where there are `names`.
nlohmann::ordered_json issues_json(const pipeline::Cache& cache,
                                   const std::vector<std::string>& names);

}  // namespace winnow::tools
