#pragma once

#include <string>
#include <vector>

#include "app/dedup/choice.h"
#include "tools/command.h"
#include "tools/flags/flags.h"

namespace winnow::tools {

// Named `prefix` and hash, threshold, risk, precision or least-quality; `prefix` begins with "--".
// Returns them. `flags` must live as long as `verb`.
std::vector<Flag> add_choice_flags(Verb verb, const std::string& prefix, ChoiceOptions& flags);
// --risk and --precision alone.
std::vector<Flag> add_demand_flags(Verb verb, const std::string& prefix, ChoiceOptions& flags);
// --least-quality alone.
Flag add_quality_flag(Verb verb, const std::string& prefix, ChoiceOptions& flags);
std::vector<Flag> add_verify_flags(Verb verb, const std::string& prefix, ChoiceOptions& flags);

}  // namespace winnow::tools
