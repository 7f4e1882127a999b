#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/dedup/obeyed.h"
#include "tools/command.h"
#include "tools/flags/flags.h"

namespace winnow::tools {

// Named `prefix` and review, which may be given several times. `reviews` must live as long as
// `verb`.
Flag add_review_flag(Verb verb, const std::string& prefix,
                     std::vector<std::filesystem::path>& reviews);
// Named `prefix` and review, prefer or protect. `obeyed` must live as long as `verb`.
std::vector<Flag> add_obeyed_flags(Verb verb, const std::string& prefix, Obeyed& obeyed);

}  // namespace winnow::tools
