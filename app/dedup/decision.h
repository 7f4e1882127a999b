#pragma once

#include <string>
#include <vector>

#include "app/dedup/choice.h"
#include "app/dedup/obeyed.h"
#include "dedup/decisions/deduplicate.h"

namespace winnow::app {

// What becomes of duplicates, as people say it.
struct PolicyWords {
  std::string keep = "best";
  std::string on_leak = "drop-train";
  std::vector<std::string> split_order;
  std::string on_conflict = "stay";
  std::string mode = "keep";
  std::vector<std::string> thin;
  std::vector<std::string> drop_issues;
};

// All options that say what counts as a duplicate and what becomes of it: those of every verb that
// decides it.
struct DecisionOptions {
  ChoiceOptions choice;
  std::string scope = "all";
  std::string groups;  // empty: as dedup::group_kind has it
  PolicyWords policy;
  Obeyed obeyed;

  bool fails_on_leak() const noexcept { return policy.on_leak == "fail"; }
};

// All but hash and threshold, which settle_links() puts into them, and what obey() does.
dedup::Options dedup_options(const DecisionOptions& flags);

// Throws RefusedError where splits share pictures.
void refuse_leaks(const dedup::Result& result);

}  // namespace winnow::app
