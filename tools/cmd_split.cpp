#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/error.h"
#include "dedup/split/folds.h"
#include "dedup/split/split.h"
#include "dedup/told_groups.h"
#include "pipeline/export/thumbnails.h"
#include "pipeline/store/cache.h"
#include "tools/choice_flags.h"
#include "tools/class_words.h"
#include "tools/command.h"
#include "tools/compared.h"
#include "tools/dedup_search.h"
#include "tools/feature_flags.h"
#include "tools/flags/flags.h"
#include "tools/gallery_report.h"
#include "tools/numbers.h"
#include "tools/obeyed.h"
#include "tools/split_page.h"
#include "tools/split_report.h"

namespace winnow::tools {
namespace {

using Shares = std::array<double, kSplitCount>;

struct ShareFlags {
  std::optional<double> train, val, test;
  std::vector<std::string> of;  // whose samples are dealt out
  std::uint32_t folds = 0;      // in place of shares; 0: none

  bool any() const noexcept { return train || val || test; }
};

struct SplitOutput {
  std::filesystem::path report;
  bool json = false;
};

struct CompareFlags {
  ChoiceFlags choice;
  FeatureFlags features;  // in its place
};

struct SplitOptions {
  std::filesystem::path cache;
  std::string name = "split";
  ShareFlags shares;
  CompareFlags compare;
  dedup::SplitOptions split;
  std::vector<std::filesystem::path> reviews;
  bool ignore_group_keys = false;
  SplitOutput output;
};

std::size_t index_of(Split split) { return static_cast<std::size_t>(split); }

// As large as the splits are now, where there are two; else what is usual.
Shares usual_shares(const pipeline::Manifest& manifest) {
  Shares shares{0, 0.8, 0.1, 0.1};
  const auto& counts = manifest.images.split_counts;
  if (std::count(counts.begin() + 1, counts.end(), 0) > 1) return shares;
  double sum = 0;
  for (std::size_t split = 1; split < shares.size(); ++split) {
    sum += static_cast<double>(counts[split]);
  }
  for (std::size_t split = 1; split < shares.size(); ++split) {
    shares[split] = static_cast<double>(counts[split]) / sum;
  }
  return shares;
}

// The first of train, test and val that was not named gets what the others leave.
Shares shares_of(const ShareFlags& o, const pipeline::Manifest& manifest) {
  if (!o.any()) return usual_shares(manifest);
  Shares shares{0, o.train.value_or(0), o.val.value_or(0), o.test.value_or(0)};
  const double rest = 1 - shares[1] - shares[2] - shares[3];
  if (rest < 1e-9) return shares;  // or too much, which is refused
  if (!o.train) {
    shares[1] = rest;
  } else if (!o.test) {
    shares[3] = rest;
  } else if (!o.val) {
    shares[2] = rest;
  }
  return shares;
}

dedup::SplitOptions split_options(const SplitOptions& o, const pipeline::Manifest& manifest) {
  dedup::SplitOptions options = o.split;
  options.dealing.group_keys = !o.ignore_group_keys;
  options.shares = shares_of(o.shares, manifest);
  options.dealing.stay = o.split.dealing.stay || !o.shares.any();
  if (o.shares.of.empty() && o.shares.folds > 0) {
    options.of = {true, true, true, false};
  } else if (o.shares.of.empty()) {
    options.of = {true, true, options.shares[2] > 0, options.shares[3] > 0};
  } else {
    options.of = {};
    for (const std::string& name : o.shares.of) options.of[index_of(*parse_split(name))] = true;
  }
  return options;
}

// What there is to split, and how.
struct Task {
  const SplitOptions& asked;
  const Session& session;
  const pipeline::Cache& cache;
  const dedup::ColumnSource& columns;
  const dedup::SplitOptions& options;
  const dedup::ToldLinks& links;
};

// The blocks of two images or more.
dedup::ToldGroups blocks_of(const Task& task, const dedup::Selection& selection) {
  return dedup::told_components(selection, task.columns,
                                {.hash = task.options.hash,
                                 .threshold = task.options.threshold,
                                 .verified = task.links.verified.get(),
                                 .decided = task.options.decided.get()});
}

// Writes the page of it, if it was asked for.
void show(const Task& task, const dedup::Selection& selection, const dedup::ToldGroups& blocks,
          GalleryFrame frame) {
  if (task.asked.output.report.empty()) return;
  const dedup::Options how{.hash = task.options.hash, .threshold = task.options.threshold};
  const dedup::Result result = dedup::result_of(selection, task.columns({"labels"}), blocks.groups);
  const pipeline::Cache& cache = task.cache;
  const pipeline::LedgerNames names = cache.read_names();
  write_gallery(task.session, {result, how, task.columns, task.links, std::cref(names)},
                cache.manifest().classes,
                {.title = title_of(cache.manifest()),
                 .made = made_here(),
                 .picture_of = pipeline::pictures_of(cache),
                 .no_pictures = kNoPicturesInCache,
                 .frame = std::move(frame),
                 .fates = {{"leak", "left out"}}},
                task.asked.output.report);
}

void make_splits(const Task& task) {
  const auto& [o, session, cache, columns, options, links] = task;
  dedup::SplitResult result = dedup::make_splits(columns, options, links.source);
  result.selection.name = o.name;
  result.selection.cache_digest = cache.digest();
  const dedup::ToldGroups blocks = blocks_of(task, result.selection);
  show(task, result.selection, blocks, split_frame(result.summary, cache.manifest()));
  {
    const Fd lock = cache.lock_selections(session.stop);
    keep_previous(session, cache, result.selection);
    cache.write_selection(result.selection, &blocks);
  }
  if (o.output.json) {
    fmt::print("{}\n", json_of_splits(result.summary, options, cache.manifest()).dump());
  } else {
    print_splits(result.summary, cache.manifest());
  }
  tell(session, result.summary);
  say_each(session, remarks_on_classes(cache, result.selection));
}

// Of folds before there may have been more: says which selections are none of these.
void tell_others(const Task& task) {
  const std::vector<std::string> there = task.cache.selections();  // in order
  const std::uint32_t folds = task.asked.shares.folds;
  std::uint32_t last = folds;
  while (std::ranges::binary_search(there, fold_name(task.asked.name, last + 1))) ++last;
  if (last == folds) return;
  say(task.session,
      fmt::format("selections from '{}' to '{}' are of other folds, made before",
                  fold_name(task.asked.name, folds + 1), fold_name(task.asked.name, last)));
}

// Selections are written one after the other, each whole; the same call again makes the same ones,
// so it mends what one that was killed has left.
void make_folds(const Task& task) {
  const auto& [o, session, cache, columns, options, links] = task;
  const dedup::FoldsResult result =
      dedup::make_folds(columns, options, o.shares.folds, links.source);
  const dedup::ToldGroups blocks = blocks_of(task, result.common);
  show(task, result.common, blocks, folds_frame(result.summary, cache.manifest()));
  Fd lock = cache.lock_selections(session.stop);
  for (std::uint32_t fold = 0; fold < o.shares.folds; ++fold) {
    dedup::Selection selection = selection_of_fold(result, fold);
    selection.name = fold_name(o.name, fold + 1);
    selection.cache_digest = cache.digest();
    keep_previous(session, cache, selection);
    cache.write_selection(selection, &blocks);
  }
  lock = {};
  if (o.output.json) {
    fmt::print("{}\n", json_of_folds(result.summary, o.name, options, cache.manifest()).dump());
  } else {
    print_folds(result.summary, o.name, cache.manifest());
  }
  tell(session, result.summary);
  tell_others(task);
}

// Throws UsageError for what goes with no folds.
void check_folds(const SplitOptions& o) {
  if (o.shares.any()) {
    throw UsageError("folds are of one size each: leave --train, --val and --test away");
  }
  if (o.split.dealing.stay) {
    throw UsageError("with --folds every sample is val once, so none can stay: leave --stay away");
  }
  // What a selection is kept as when another replaces it is the longest name.
  if (!pipeline::is_selection_name(fold_name(o.name, o.shares.folds) + ".previous")) {
    throw UsageError("'" + o.name + "' is too long for a name of folds, which adds to it");
  }
}

void decide(const SplitOptions& o, const Session& session, const dedup::SharedWork& work) {
  pipeline::check_selection_name(o.name);
  check_choice(o.compare.choice);
  check_features(o.compare.features, o.compare.choice);
  if (o.shares.folds > 0) check_folds(o);
  check_report_path(o.output.report);
  const pipeline::Cache cache = pipeline::Cache::open(o.cache);
  if (!can_keep_selections(cache.paths())) {
    throw SystemError(o.cache.string() +
                      " cannot be written to, so it keeps no selection; split a copy of it");
  }
  say_alpha_ignored(session, cache);
  dedup::SplitOptions options = split_options(o, cache.manifest());
  dedup::ColumnSource columns = stoppable(cache.open_fingerprints(), session);
  options.decided = decided_by(session, o.reviews, columns);
  dedup::Options how{.policy = {.keep = dedup::KeepPolicy::kFirst},  // nobody is chosen
                     .matching = {.least_quality = o.compare.choice.least_quality}};
  const dedup::ToldLinks links =
      settle_links(session, o.compare.choice, o.compare.features,
                   images_of(cache, pipeline::pictures_of(cache)), work, columns, how);
  options.hash = how.hash;
  options.threshold = how.threshold;
  options.chosen_by = how.chosen_by;
  options.matching = how.matching;
  const Task task{o, session, cache, columns, options, links};
  if (o.shares.folds > 0) {
    make_folds(task);
  } else {
    make_splits(task);
  }
  if (options.decided) {
    tell_obeyed(session, *options.decided);
    if (!options.decided->dropped.empty()) {
      say(session, fmt::format("{} images are in no split: judgements drop them",
                               grouped(options.decided->dropped.size())));
    }
  }
  say(session, o.shares.folds == 0
                   ? fmt::format("selection '{}' written", o.name)
                   : fmt::format("selections '{}' to '{}' written", fold_name(o.name, 1),
                                 fold_name(o.name, o.shares.folds)));
}

void run(const SplitOptions& o, Session& session) {
  const ChoiceFlags& choice = o.compare.choice;
  with_shared_work(
      session,
      /*all_links=*/chooses(choice) || choice.verify.value_or(false) || !o.reviews.empty(),
      [&](const dedup::SharedWork& work) { decide(o, session, work); });
}

void add_share_flags(Verb verb, SplitOptions& o) {
  verb.add_option("--train", o.shares.train,
                  "Share of train, as 0.8 or 80%; by default what is left")
      .in_shares()
      .check(real_in(0, 1));
  verb.add_option("--val", o.shares.val, "Share of val").in_shares().check(real_in(0, 1));
  verb.add_option("--test", o.shares.test, "Share of test").in_shares().check(real_in(0, 1));
}

}  // namespace

Command add_split(Verb program) {
  auto o = std::make_shared<SplitOptions>();
  const Verb verb = program.add_verb(
      "split",
      "Make train, val and test so that no duplicate and no group key lies in two of them");
  verb.add_option("cache", o->cache, "Cache made by winnow ingest").required();
  verb.add_option("--name", o->name, "Name of the selection").show_default();
  add_share_flags(verb, *o);
  verb.add_option(
          "--folds", o->shares.folds,
          "In place of shares, for cross-validation: write the selections NAME-1 to NAME-K, "
          "each with another of K folds as val and the others as train")
      .check(whole_in(2, dedup::kMostFolds))
      .type_name("K");
  verb.add_option("--of", o->shares.of,
                  "Deal out the samples of these splits; others stay where they are. By default "
                  "none, train, and those that get a share; with folds none, train and val")
      .delimiter(',')
      .one_of({"none", "train", "val", "test"});
  add_choice_flags(verb, "--", o->compare.choice);
  add_verify_flags(verb, "--", o->compare.choice);
  add_feature_flags(verb, o->compare.features);
  add_review_flag(verb, "--", o->reviews);
  verb.add_flag("--ignore-group-keys", o->ignore_group_keys,
                "Let samples of one group key lie in several splits");
  verb.add_flag("--stay", o->split.dealing.stay,
                "Leave as many samples in their splits as that allows; without shares this is so");
  verb.add_option("--seed", o->split.dealing.seed, "Another seed makes other splits")
      .check(seeds())
      .show_default();
  add_report_flag(verb, o->output.report);
  verb.add_flag("--json", o->output.json, "Print one JSON object on stdout");
  verb.footer(
      "A block is what duplicates and group keys (bursts of one scene, pictures of one patient)\n"
      "hold together. Blocks are never cut; each class comes within one sample of its share in\n"
      "each split where its blocks allow, and the table names those that do not. Without shares,\n"
      "splits are as large as they are now, and only what must move does; where there is but one\n"
      "split, or none, they are 0.8, 0.1 and 0.1.\n"
      "Shares are of the samples dealt out. What belongs to a sample of a split that stays as it\n"
      "is joins that split if it gets a share, and is left out if not. The result is a selection:\n"
      "train, eval and export use the splits that it says; one of the same name before is kept as\n"
      "NAME.previous. Under mpirun ranks share the search and the looking at pictures.\n\n"
      "With --folds each sample that is dealt out is val in one of K selections and train in the\n"
      "others, and test stays as it is: what belongs to a sample of test is left out. Classes are\n"
      "alike in all folds. If it is interrupted while it writes them, call it again: the same\n"
      "flags make the same selections.\n\n"
      "Examples:\n"
      "  winnow split cache --val 0.1 --test 0.1\n"
      "  winnow split cache --val 0.1        # of train and of no split; test stays as it is\n"
      "  winnow split cache --of train --val 0.1 --name tuning\n"
      "  winnow split cache --folds 5 --name cv   # then: winnow train cache --selection cv-1\n"
      "  winnow split cache                  # mends splits that leak, each as large as it was\n"
      "  winnow split cache --val 0.1 --report splits.html   # to look at what stays together\n"
      "  winnow export cache --to splits --selection split\n"
      "  winnow dedup cache --splits split --name clean   # thins duplicates inside their train");
  return {verb, true, [o](Session& session) { run(*o, session); }, true};
}

}  // namespace winnow::tools
