#include "tools/report_flag.h"

namespace winnow::tools {

void add_report_flag(Verb verb, std::filesystem::path& path) {
  verb.add_option("--report", path,
                  "Write a page to look at the groups and to judge them: one HTML file that needs "
                  "nothing else");
}

}  // namespace winnow::tools
