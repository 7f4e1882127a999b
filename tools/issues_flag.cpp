#include "tools/issues_flag.h"

#include "dedup/audit/issues.h"

namespace winnow::tools {

Flag add_issues_flag(Verb verb, std::optional<std::vector<std::string>>& issues,
                     const std::string& help) {
  return verb
      .on_option<std::vector<std::string>>(
          "--issues",
          [&issues](const std::vector<std::string>& names) {
            issues = names;
            std::erase(*issues, "");  // none was named
          },
          help)
      .delimiter(',')
      .expected(0, dedup::kIssueCount);
}

}  // namespace winnow::tools
