
#include "app/split/split.h"
#include "common/json.h"
#include "dedup/split/folds.h"
#include "dedup/split/split.h"
#include "tools/command.h"
#include "tools/dedup_flags.h"
#include "tools/flags/flags.h"
#include "tools/numbers.h"

namespace winnow::tools {
namespace {

using Shares = std::array<double, kSplitCount>;

void add_share_flags(Verb verb, SplitRequest& o) {
  verb.add_option("--train", o.shares.train,
                  "Share of the samples for train, such as 0.8 or 80% (default: the rest)")
      .check(real_in(0, 1));
  verb.add_option("--val", o.shares.val, "Share of the samples for val").check(real_in(0, 1));
  verb.add_option("--test", o.shares.test, "Share of the samples for test").check(real_in(0, 1));
}

}  // namespace

Command add_split(Verb program) {
  auto o = std::make_shared<SplitRequest>();
  const Verb verb = program.add_verb("split", "Make train, val and test splits without leaks");
  verb.add_option("cache", o->cache, "Cache made by winnow ingest").required();
  verb.add_option("--name", o->name, "Name of the selection").show_default();
  add_share_flags(verb, *o);
  verb.add_option("--folds", o->shares.folds,
                  "Instead of shares, for cross-validation: write the selections NAME-1 to NAME-K, "
                  "each with another of K folds as val and the other folds as train")
      .check(whole_in(2, dedup::kMostFolds))
      .type_name("K");
  verb.add_option("--of", o->shares.of,
                  "Splits whose samples are distributed; others stay as they are. Default: none, "
                  "train, and the splits that get a share; with --folds: none, train and val")
      .delimiter(',')
      .one_of({"none", "train", "val", "test"});
  add_choice_flags(verb, "--", o->compare.choice);
  add_verify_flags(verb, "--", o->compare.choice);
  add_feature_flags(verb, o->compare.features);
  add_review_flag(verb, "--", o->reviews);
  verb.add_flag("--ignore-group-keys", o->ignore_group_keys,
                "Let samples of one group key lie in several splits");
  verb.add_flag("--stay", o->split.dealing.stay,
                "Leave as many samples as possible in their splits; always done without shares");
  verb.add_option("--seed", o->split.dealing.seed, "Another seed makes other splits")
      .check(seeds())
      .show_default();
  add_report_flag(verb, o->output.report);
  verb.add_flag("--json", o->output.json, "Print one JSON object on stdout");
  verb.footer(
      R"(A block contains samples connected by duplicates and group keys (bursts of one scene, pictures
of one patient). Blocks are never split. Each class comes within one sample of its share in
each split if its blocks allow; the table lists classes that do not. Without shares, splits
keep their size, and only samples that must move do; with one split, or none, the shares are
0.8, 0.1 and 0.1.
Shares refer to the distributed samples. A duplicate of a sample in a split that stays joins
that split if it gets a share, else it is left out. The result is a selection: train, eval and
export use its splits. An earlier one of the same name is kept as NAME.previous. Under mpirun
ranks share the search and the comparison of pictures.

With --folds each distributed sample is val in one of K selections and train in the others;
test stays, and its duplicates are left out. Classes are balanced over folds. After an
interruption, call it again: the same flags make the same selections.

)"
      "Examples:\n"
      "  winnow split cache --val 0.1 --test 0.1\n"
      "  winnow split cache --val 0.1        # from train and no split; test stays\n"
      "  winnow split cache --of train --val 0.1 --name tuning\n"
      "  winnow split cache --folds 5 --name cv   # then: winnow train cache --selection cv-1\n"
      "  winnow split cache                  # repairs splits that leak, and keeps their size\n"
      "  winnow split cache --val 0.1 --report splits.html   # to look at what stays together\n"
      "  winnow export cache --to splits --selection split\n"
      "  winnow dedup cache --splits split --name clean   # thins duplicates inside their train");
  return {verb, true, [o](Session& session) { run_split(*o, session); }, true};
}

}  // namespace winnow::tools
