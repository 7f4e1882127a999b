#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/dedup/choice.h"
#include "app/dedup/decision.h"
#include "app/dedup/features.h"
#include "app/dedup/lists.h"
#include "app/dedup/obeyed.h"
#include "tools/command.h"
#include "tools/flags/flags.h"

// Flags of several verbs that say what duplicates are, what becomes of them, and where that is
// told.
namespace winnow::tools {

// Named `prefix` and hash, threshold, risk, precision or least-quality; `prefix` begins with "--".
// Returns them. `flags` must live as long as `verb`.
std::vector<Flag> add_choice_flags(Verb verb, const std::string& prefix, ChoiceOptions& flags);
// --risk and --precision alone.
std::vector<Flag> add_demand_flags(Verb verb, const std::string& prefix, ChoiceOptions& flags);
// --least-quality alone.
Flag add_quality_flag(Verb verb, const std::string& prefix, ChoiceOptions& flags);
std::vector<Flag> add_verify_flags(Verb verb, const std::string& prefix, ChoiceOptions& flags);

// Named `prefix` and review, which may be given several times. `reviews` must live as long as
// `verb`.
Flag add_review_flag(Verb verb, const std::string& prefix,
                     std::vector<std::filesystem::path>& reviews);
// Named `prefix` and review, prefer or protect. `obeyed` must live as long as `verb`.
std::vector<Flag> add_obeyed_flags(Verb verb, const std::string& prefix, Obeyed& obeyed);

// Named `prefix` and what add_choice_flags(), add_verify_flags() and add_obeyed_flags() name, or
// scope, groups, keep, on-leak, split-order, on-conflict, mode, thin or drop-issues, which with
// --drop- is --drop-issues, too; `prefix` begins with "--". Returns them. `flags` must live as long
// as `verb`.
std::vector<Flag> add_dedup_flags(Verb verb, const std::string& prefix, DecisionOptions& flags);

// --features and --cosine.
void add_feature_flags(Verb verb, FeatureOptions& flags);

// --list, --list-groups, --list-pairs, --list-look-alikes, --list-blank and --list-issues. `flags`
// must live as long as `verb`.
void add_list_flags(Verb verb, ListPlaces& flags);

// --report. `path` must live as long as `verb`.
void add_report_flag(Verb verb, std::filesystem::path& path);

// --issues, with names or without: then it has none. `issues` must live as long as `verb`.
Flag add_issues_flag(Verb verb, std::optional<std::vector<std::string>>& issues,
                     const std::string& help);

}  // namespace winnow::tools
