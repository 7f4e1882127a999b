#include "tools/dedup_flags.h"

#include "tools/choice_flags.h"
#include "tools/obeyed_flags.h"

namespace winnow::tools {
namespace {

struct PolicyWords {
  std::vector<std::string> names;
  std::string what;  // "first: the first; largest: ..."
};

void append(const std::vector<Flag>& more, std::vector<Flag>& options) {
  options.insert(options.end(), more.begin(), more.end());
}

PolicyWords keep_policy_words() {
  PolicyWords words;
  for (const dedup::KeepPolicyRow& row : dedup::keep_policies()) {
    words.names.emplace_back(row.name);
    words.what +=
        (words.what.empty() ? "" : "; ") + std::string(row.name) + ": " + std::string(row.what);
  }
  return words;
}

// What becomes of duplicates.
std::vector<Flag> add_policy_flags(Verb verb, const std::string& prefix, DecisionOptions& flags) {
  const PolicyWords policies = keep_policy_words();
  return {
      verb.add_option(prefix + "scope", flags.scope,
                      "Where duplicates are removed: within train, across splits, or all of both")
          .one_of({"all", "within", "across"})
          .show_default(),
      verb.add_option(
              prefix + "groups", flags.groups,
              "What is a group: components, linked directly or through others; stars, all "
              "linked to the one that stays; cliques, all linked to all. Unless you say it: "
              "stars where pictures are compared, so that each that goes is itself shown to be "
              "a copy of one that stays; by codes and features components, which no order "
              "changes")
          .one_of({"components", "stars", "cliques"}),
      verb.add_option(prefix + "keep", flags.policy.keep,
                      "Which training image of a group stays: " + policies.what)
          .one_of(policies.names)
          .show_default(),
      verb.add_option(
              prefix + "on-leak", flags.policy.on_leak,
              "What becomes of pictures that several of train, val and test have: drop-train "
              "leaves them in the split used last, drop-eval in that used first, move puts "
              "all of a group where most of it is, fail decides nothing and exits with 3")
          .one_of({"drop-train", "drop-eval", "move", "fail"})
          .show_default(),
      verb.add_option(prefix + "split-order", flags.policy.split_order,
                      "The splits from the one such pictures stay in to the one that loses them "
                      "first, as in val,test,train; instead of drop-train or drop-eval")
          .delimiter(',')
          .expected(3),
      verb.add_option(
              prefix + "on-conflict", flags.policy.on_conflict,
              "What becomes of training images of one group that are labelled differently: "
              "stay: those of near images stay, of each label one, and equal pixels are kept "
              "like any; keep: kept like any; drop: all dropped; weight: all kept with the "
              "weight of one")
          .one_of({"stay", "keep", "drop", "weight"})
          .show_default(),
      verb.add_option(prefix + "mode", flags.policy.mode,
                      "What becomes of a group's training images: keep one; weight: all stay and "
                      "share the weight of one; one_per_group: all stay and take turns")
          .one_of({"keep", "weight", "one_per_group"})
          .show_default(),
      verb.add_option(prefix + "thin", flags.policy.thin,
                      "Evaluation splits that keep one image of a group too: val, test. Results on "
                      "others than were published are hard to compare, so none by default")
          .delimiter(',')
          .one_of({"val", "test"}),
  };
}

}  // namespace

std::vector<Flag> add_dedup_flags(Verb verb, const std::string& prefix, DecisionOptions& flags) {
  std::vector<Flag> options = add_choice_flags(verb, prefix, flags.choice);
  append(add_policy_flags(verb, prefix, flags), options);
  options.push_back(
      verb.add_option(prefix == "--" ? "--drop-issues" : prefix + "issues",
                      flags.policy.drop_issues,
                      "Also remove training images for what they look like, as blurry,dark; of "
                      "val and test where --thin names these. winnow info --issues tells what "
                      "there is")
          .delimiter(','));
  append(add_verify_flags(verb, prefix, flags.choice), options);
  append(add_obeyed_flags(verb, prefix, flags.obeyed), options);
  return options;
}

}  // namespace winnow::tools
