#pragma once

#include <string>
#include <vector>

#include "app/dedup/decision.h"
#include "tools/command.h"
#include "tools/flags/flags.h"

namespace winnow::tools {

// Named `prefix` and what add_choice_flags(), add_verify_flags() and add_obeyed_flags() name, or
// scope, groups, keep, on-leak, split-order, on-conflict, mode, thin or drop-issues, which with
// --drop- is --drop-issues, too; `prefix` begins with "--". Returns them. `flags` must live as long
// as `verb`.
std::vector<Flag> add_dedup_flags(Verb verb, const std::string& prefix, DecisionOptions& flags);

}  // namespace winnow::tools
