#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/dedup/choice.h"
#include "app/dedup/decision.h"
#include "app/dedup/features.h"
#include "app/dedup/lists.h"
#include "app/dedup/review_constraints.h"
#include "tools/command.h"
#include "tools/flags/flags.h"

// Flags of several verbs: what counts as a duplicate, what happens to duplicates, and where they
// are listed.
namespace winnow::tools {

// hash, threshold, risk, precision and least-quality, named with `prefix`, which begins with "--".
// Returns them. `flags` must live as long as `verb`.
std::vector<Flag> add_choice_flags(Verb verb, const std::string& prefix, ChoiceOptions& flags);
// Only --risk and --precision.
std::vector<Flag> add_demand_flags(Verb verb, const std::string& prefix, ChoiceOptions& flags);
// Only --least-quality.
Flag add_quality_flag(Verb verb, const std::string& prefix, ChoiceOptions& flags);
std::vector<Flag> add_verify_flags(Verb verb, const std::string& prefix, ChoiceOptions& flags);

// `prefix` + review, which may be given several times. `reviews` must live as long as `verb`.
Flag add_review_flag(Verb verb, const std::string& prefix,
                     std::vector<std::filesystem::path>& reviews);
// `prefix` + review, prefer and protect. `constraints` must live as long as `verb`.
std::vector<Flag> add_constraint_flags(Verb verb, const std::string& prefix,
                                       ReviewConstraints& constraints);

// All options of a deduplication, named with `prefix`, which begins with "--". Returns them.
// `flags` must live as long as `verb`.
//
// Flags   those of add_choice_flags(), add_verify_flags() and add_constraint_flags(); scope,
// groups,
//         keep, on-leak, split-order, on-conflict, mode, thin, drop-issues.
// --drop- as the prefix makes --drop-issues, without a second "drop".
std::vector<Flag> add_dedup_flags(Verb verb, const std::string& prefix, DecisionOptions& flags);

// --features and --cosine.
void add_feature_flags(Verb verb, FeatureOptions& flags);

// --list, --list-groups, --list-pairs, --list-look-alikes, --list-blank and --list-issues. `flags`
// must live as long as `verb`.
void add_list_flags(Verb verb, ListPlaces& flags);

// --report. `path` must live as long as `verb`.
void add_report_flag(Verb verb, std::filesystem::path& path);

// --issues, with names or without: then the list is empty. `issues` must live as long as `verb`.
Flag add_issues_flag(Verb verb, std::optional<std::vector<std::string>>& issues,
                     const std::string& help);

}  // namespace winnow::tools
