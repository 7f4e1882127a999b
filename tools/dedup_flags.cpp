#include "tools/dedup_flags.h"

#include <string>

#include "dedup/decisions/issues.h"
#include "tools/numbers.h"

namespace winnow::tools {
namespace {

// Headings.
constexpr const char* kDuplicates = "What is a duplicate";
constexpr const char* kDecisions = "Review decisions";
constexpr const char* kStays = "What stays";

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

// How duplicates are treated.
std::vector<Flag> add_policy_flags(Verb whole, const std::string& prefix, DecisionOptions& flags) {
  const Verb verb = whole.titled(kStays);
  const PolicyWords policies = keep_policy_words();
  return {
      verb.add_option(prefix + "scope", flags.scope,
                      "Where duplicates are removed: within train, across splits, or all: both")
          .one_of({"all", "within", "across"})
          .show_default(),
      verb.add_option(prefix + "groups", flags.groups,
                      "Kind of groups. components: images linked directly or through others; "
                      "stars: all are linked to the one that stays; cliques: all are linked to "
                      "all. Default: stars if pictures are compared, so that each removed image is "
                      "a copy of one that stays; else components")
          .one_of({"components", "stars", "cliques"}),
      verb.add_option(prefix + "keep", flags.policy.keep,
                      "Which training image of a group stays: " + policies.what)
          .one_of(policies.names)
          .show_default(),
      verb.add_option(
              prefix + "on-leak", flags.policy.on_leak,
              "How to resolve leaks: drop-train removes the copy in train, drop-eval the one in "
              "val "
              "or test, move gathers the group in the split that has most of it, fail decides "
              "nothing and exits with 3")
          .one_of({"drop-train", "drop-eval", "move", "fail"})
          .show_default(),
      verb.add_option(prefix + "split-order", flags.policy.split_order,
                      "Instead of drop-train or drop-eval: the splits in order of priority; the "
                      "first one keeps a shared picture, such as val,test,train")
          .delimiter(',')
          .expected(3),
      verb.add_option(
              prefix + "on-conflict", flags.policy.on_conflict,
              "How to treat a group of training images with different labels. stay: one image of "
              "each "
              "label stays, unless pixels are equal; keep: as without a conflict; drop: drop all; "
              "weight: keep all with the weight of one")
          .one_of({"stay", "keep", "drop", "weight"})
          .show_default(),
      verb.add_option(
              prefix + "mode", flags.policy.mode,
              "How to treat a group's training images. keep: one stays; weight: all stay and "
              "share the weight of one; one_per_group: all stay and take turns")
          .one_of({"keep", "weight", "one_per_group"})
          .show_default(),
      verb.add_option(
              prefix + "thin", flags.policy.thin,
              "Evaluation splits that also keep one image of a group: val, test. Default: none, "
              "because results on a thinned split cannot be compared with published ones")
          .delimiter(',')
          .one_of({"val", "test"}),
  };
}

}  // namespace

std::vector<Flag> add_demand_flags(Verb whole, const std::string& prefix, ChoiceOptions& flags) {
  const Verb verb = whole.titled(kDuplicates);
  const Flag risk = verb.add_option(prefix + "risk", flags.risk,
                                    "Choose the threshold: the largest with fewer expected false "
                                    "pairs than this among all images (default: 0.5)")
                        .check(real_above(0, kMostRisk));
  const Flag precision =
      verb.add_option(prefix + "precision", flags.precision,
                      "Choose the threshold: the largest whose expected precision is at least this "
                      "(see winnow tune)")
          .check(real_in(0.0, 1.0))
          .excludes(risk);
  return {risk, precision};
}

std::vector<Flag> add_choice_flags(Verb whole, const std::string& prefix, ChoiceOptions& flags) {
  const Verb verb = whole.titled(kDuplicates);
  const Flag hash = verb.add_option(prefix + "hash", flags.hash,
                                    "Hash to compare; auto: the stored one that finds most; "
                                    "exact: equal files and pixels only")
                        .show_default();
  const Flag threshold =
      verb.add_option(
              prefix + "threshold", flags.threshold,
              "Largest number of bits that may differ between duplicates (of phash, if no hash is "
              "named). Default: "
              "the "
              "largest threshold with fewer than 0.5 expected false pairs among these images")
          .check(whole_in(0, kMostBits));
  std::vector<Flag> options{hash, threshold};
  for (const Flag option : add_demand_flags(verb, prefix, flags)) {
    option.excludes(threshold);
    options.push_back(option);
  }
  options.push_back(add_quality_flag(verb, prefix, flags));
  return options;
}

Flag add_quality_flag(Verb whole, const std::string& prefix, ChoiceOptions& flags) {
  const Verb verb = whole.titled(kDuplicates);
  return verb
      .add_option(prefix + "least-quality", flags.least_quality,
                  "Images of less quality, 0 to 100, have too little detail to be compared by "
                  "codes. Default: "
                  "50 for pdq, as its authors advise, and anything above 0 for others")
      .check(real_in(0.0, 100.0));
}

std::vector<Flag> add_verify_flags(Verb whole, const std::string& prefix, ChoiceOptions& flags) {
  const Verb verb = whole.titled(kDuplicates);
  const Flag verify =
      verb.on_switch(
              prefix + "verify,!" + prefix + "no-verify",
              [&flags](bool is_on) { flags.verify = is_on; },
              "Compare the pictures: find cropped, framed, turned and partly covered copies too, "
              "and "
              "reject pairs that only have near codes. Default: for up to 100,000 images with "
              "enough details, unless another flag says what to compare")
          .last_holds();
  const Flag least =
      verb.add_option(prefix + "least-probability", flags.least_probability,
                      "For " + prefix +
                          "verify: smallest probability that two images show the same picture. "
                          "Default: 0.9, or more if too many false pairs are expected")
          .check(real_in(0.5, 0.9999))
          .each([&flags](const std::string&) { flags.verify = flags.verify.value_or(true); });
  return {verify, least};
}

Flag add_review_flag(Verb whole, const std::string& prefix,
                     std::vector<std::filesystem::path>& reviews) {
  const Verb verb = whole.titled(kDecisions);
  return verb
      .add_option(
          prefix + "review", reviews,
          "Apply the decisions in this file of winnow review: what is a duplicate and what is not, "
          "what stays and what goes; repeatable")
      .repeatable();
}

std::vector<Flag> add_constraint_flags(Verb whole, const std::string& prefix,
                                       ReviewConstraints& constraints) {
  const Verb verb = whole.titled(kDecisions);
  return {add_review_flag(whole, prefix, constraints.reviews),
          verb.add_option(prefix + "prefer", constraints.globs.prefer,
                          "In a group, keep images whose names match this glob before others of "
                          "their split, as "
                          "in 'originals/**'; only then " +
                              prefix + "keep decides. ** matches any folders, * no '/'; repeatable")
              .repeatable(),
          verb.add_option(prefix + "protect", constraints.globs.protect,
                          "Never drop images whose names match this glob, as in 'gold/**': their "
                          "duplicates are "
                          "dropped instead, in any split; repeatable")
              .repeatable()};
}

std::vector<Flag> add_dedup_flags(Verb verb, const std::string& prefix, DecisionOptions& flags) {
  std::vector<Flag> options = add_choice_flags(verb, prefix, flags.choice);
  append(add_policy_flags(verb, prefix, flags), options);
  options.push_back(
      verb.titled(kStays)
          .add_option(
              prefix == "--" ? "--drop-issues" : prefix + "issues", flags.policy.drop_issues,
              "Also remove training images with these issues, such as blurry,dark; also those of "
              "val and test if --thin names these splits. winnow info --issues lists issues")
          .delimiter(','));
  append(add_verify_flags(verb, prefix, flags.choice), options);
  append(add_constraint_flags(verb, prefix, flags.constraints), options);
  return options;
}

void add_feature_flags(Verb whole, FeatureOptions& flags) {
  const Verb verb = whole.titled(kDuplicates);
  verb.add_option(
      "--features", flags.name,
      "Compare these features of winnow embed instead of a hash; images without a vector match "
      "by equal files and pixels. With --verify the pictures of near pairs are compared");
  verb.add_option("--cosine", flags.cosine,
                  "For --features: the smallest cosine of duplicates, in steps of 0.001, such as "
                  "0.97; distances are listed as 1000 (1 - cosine)")
      .check(real_in(-1, 1));
}

void add_list_flags(Verb whole, ListPlaces& flags) {
  const Verb verb = whole.titled("Lists");
  const std::string form =
      "; CSV, or JSON lines where the file is called *.jsonl; - is the standard output";
  verb.add_option("--list", flags.removed,
                  "Where to list removed images (default: next to the selection)" + form);
  verb.add_option("--list-groups", flags.groups,
                  "Also list every image of every group, with the group's diameter in bits" + form);
  verb.add_option("--list-pairs", flags.pairs, "Also list all pairs of duplicates" + form);
  verb.add_option("--list-look-alikes", flags.look_alikes,
                  "Also list the pairs that look alike and are not taken for copies" + form);
  verb.add_option("--list-blank", flags.low_quality,
                  "Also list the images with too little detail to match by a hash" + form);
  verb.add_option("--list-issues", flags.issues,
                  "Also list the images that --drop-issues removed, with their scores" + form);
}

void add_report_flag(Verb verb, std::filesystem::path& path) {
  verb.add_option("--report", path,
                  "Write an HTML page to view and judge the groups, as a single file");
}

Flag add_issues_flag(Verb verb, std::optional<std::vector<std::string>>& issues,
                     const std::string& help) {
  return verb
      .on_option<std::vector<std::string>>(
          "--issues",
          [&issues](const std::vector<std::string>& names) {
            issues = names;
            std::erase(*issues, "");  // no issue was named
          },
          help)
      .delimiter(',')
      .expected(0, dedup::kIssueCount);
}

}  // namespace winnow::tools
