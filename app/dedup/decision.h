#pragma once

#include <string>
#include <vector>

#include "app/dedup/choice.h"
#include "app/dedup/review_constraints.h"
#include "dedup/decisions/deduplicate.h"

namespace winnow::app {

// The treatment of duplicates, as given in the options.
struct PolicyWords {
  std::string keep = "best";
  std::string on_leak = "drop-train";
  std::vector<std::string> split_order;
  std::string on_conflict = "stay";
  std::string mode = "keep";
  std::vector<std::string> thin;
  std::vector<std::string> drop_issues;
};

// All options that decide what counts as a duplicate and what happens to duplicates. Shared by all
// verbs (commands) that deduplicate.
struct DecisionOptions {
  ChoiceOptions choice;
  std::string scope = "all";
  std::string groups;  // kind of group; empty: the default of dedup::group_kind()
  PolicyWords policy;
  ReviewConstraints constraints;

  bool fails_on_leak() const noexcept { return policy.on_leak == "fail"; }
};

// Converts the user's options to those of deduplicate(). Hash and threshold are set later by
// settle_links(), review decisions by apply_constraints().
dedup::Options dedup_options(const DecisionOptions& flags);

// Throws RefusedError if pictures are in more than one of train, val and test.
void refuse_leaks(const dedup::Result& result);

}  // namespace winnow::app
