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

// Options of several verbs: what counts as a duplicate, what happens to duplicates, and where they
// are listed.
namespace winnow::tools {

// Adds options hash, threshold, risk, precision and least-quality, named with `prefix`, which
// begins with "--". Returns them. `flags` must live as long as `verb`.
std::vector<Flag> add_choice_flags(Verb verb, const std::string& prefix, ChoiceOptions& flags);
// Adds only risk and precision, named with `prefix`.
std::vector<Flag> add_demand_flags(Verb verb, const std::string& prefix, ChoiceOptions& flags);
// Adds only least-quality, named with `prefix`.
Flag add_quality_flag(Verb verb, const std::string& prefix, ChoiceOptions& flags);
std::vector<Flag> add_verify_flags(Verb verb, const std::string& prefix, ChoiceOptions& flags);

// Adds `prefix` + review, which may be given several times. `reviews` must live as long as `verb`.
Flag add_review_flag(Verb verb, const std::string& prefix,
                     std::vector<std::filesystem::path>& reviews);
// Adds `prefix` + review, prefer and protect. `constraints` must live as long as `verb`.
std::vector<Flag> add_constraint_flags(Verb verb, const std::string& prefix,
                                       ReviewConstraints& constraints);

// Adds all options of a deduplication, named with `prefix`, which begins with "--". Returns them.
// `flags` must live as long as `verb`.
//
// Options  those of add_choice_flags(), add_verify_flags() and add_constraint_flags(); scope,
//          groups, keep, on-leak, split-order, on-conflict, mode, thin, drop-issues
// --drop-  this prefix does not repeat the "drop" of drop-issues: --drop-issues
std::vector<Flag> add_dedup_flags(Verb verb, const std::string& prefix, DecisionOptions& flags);

// Adds --features and --cosine to a verb.
void add_feature_flags(Verb verb, FeatureOptions& flags);

// Adds --list, --list-groups, --list-pairs, --list-look-alikes, --list-blank and --list-issues.
// `flags` must live as long as `verb`.
void add_list_flags(Verb verb, ListPlaces& flags);

// Adds --report to a verb. `path` must live as long as `verb`.
void add_report_flag(Verb verb, std::filesystem::path& path);

// Adds --issues, with names of issues or without; without, the list is empty. `issues` must live as
// long as `verb`.
Flag add_issues_flag(Verb verb, std::optional<std::vector<std::string>>& issues,
                     const std::string& help);

}  // namespace winnow::tools
