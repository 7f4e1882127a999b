#pragma once

#include <string>
#include <vector>

#include "app/dedup/choice.h"
#include "app/dedup/review_constraints.h"
#include "dedup/decisions/deduplicate.h"

namespace winnow::app {

// Treatment of duplicates, in the words of the flags.
struct PolicyWords {
  std::string keep = "best";
  std::string on_leak = "drop-train";
  std::vector<std::string> split_order;
  std::string on_conflict = "stay";
  std::string mode = "keep";
  std::vector<std::string> thin;
  std::vector<std::string> drop_issues;
};

// All options that decide what counts as a duplicate and what happens to it. Shared by every verb
// that decides it.
struct DecisionOptions {
  ChoiceOptions choice;
  std::string scope = "all";
  std::string groups;  // empty: the default of dedup::group_kind
  PolicyWords policy;
  ReviewConstraints constraints;

  bool fails_on_leak() const noexcept { return policy.on_leak == "fail"; }
};

// All options except hash and threshold (settle_links() sets them) and the review decisions
// (apply_constraints()).
dedup::Options dedup_options(const DecisionOptions& flags);

// Throws RefusedError if splits share pictures.
void refuse_leaks(const dedup::Result& result);

}  // namespace winnow::app
