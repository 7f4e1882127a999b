#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/command.h"
#include "tools/flags/flags.h"

// What winnow info says of the audit (dedup/audit/issues.h). All that say something throw
// UsageError for an issue that does not exist, and where the cache was made before there was an
// audit.

namespace winnow::tools {

// --issues, with names or without: then it has none. `issues` must live as long as `verb`.
Flag add_issues_flag(Verb verb, std::optional<std::vector<std::string>>& issues,
                     const std::string& help);

}  // namespace winnow::tools
