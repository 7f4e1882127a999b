#pragma once

#include <span>
#include <string>
#include <vector>

#include "dedup/deduplicate.h"
#include "tools/choice_flags.h"
#include "tools/flags/flags.h"
#include "tools/obeyed.h"

namespace winnow::tools {

// All options that say what counts as a duplicate and what becomes of it: those of every verb that
// decides it.
struct DedupFlags {
  ChoiceFlags choice;
  std::string scope = "all";
  std::string groups;  // empty: as dedup::group_kind has it
  std::string keep = "best";
  std::string on_leak = "drop-train";
  std::vector<std::string> split_order;
  std::string on_conflict = "stay";
  std::string mode = "keep";
  std::vector<std::string> thin;
  std::vector<std::string> drop_issues;
  Obeyed obeyed;

  bool fails_on_leak() const noexcept { return on_leak == "fail"; }
};

// Named `prefix` and what add_choice_flags(), add_verify_flags() and add_obeyed_flags() name, or
// scope, groups, keep, on-leak, split-order, on-conflict, mode, thin or drop-issues, which with
// --drop- is --drop-issues, too; `prefix` begins with "--". Returns them. `flags` must live as long
// as `verb`.
std::vector<Flag> add_dedup_flags(Verb verb, const std::string& prefix, DedupFlags& flags);

// All but hash and threshold, which settle_links() puts into them, and what obey() does.
dedup::Options dedup_options(const DedupFlags& flags);

// Throws RefusedError where splits share pictures.
void refuse_leaks(const dedup::Result& result);

}  // namespace winnow::tools
