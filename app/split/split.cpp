#include "app/split/split.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "app/dedup/compared.h"
#include "app/dedup/gallery.h"
#include "app/dedup/review_constraints.h"
#include "app/dedup/search.h"
#include "app/sources/class_words.h"
#include "app/split/split_page.h"
#include "app/split/split_report.h"
#include "app/words.h"
#include "common/error.h"
#include "dedup/lists/groups_with_evidence.h"
#include "dedup/split/folds.h"
#include "pipeline/export/thumbnails.h"
#include "pipeline/store/cache.h"

namespace winnow::app {
namespace {

using Shares = std::array<double, kSplitCount>;

std::size_t index_of(Split split) { return static_cast<std::size_t>(split); }

// The shares of the present splits if there are two or more; else the default.
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

// The first of train, test and val without a share gets the rest.
Shares shares_of(const ShareOptions& o, const pipeline::Manifest& manifest) {
  if (!o.any()) return usual_shares(manifest);
  Shares shares{0, o.train.value_or(0), o.val.value_or(0), o.test.value_or(0)};
  const double rest = 1 - shares[1] - shares[2] - shares[3];
  // nothing is left, or too much was asked for, which is refused later
  if (rest < 1e-9) return shares;
  if (!o.train) {
    shares[1] = rest;
  } else if (!o.test) {
    shares[3] = rest;
  } else if (!o.val) {
    shares[2] = rest;
  }
  return shares;
}

dedup::SplitOptions split_options(const SplitRequest& o, const pipeline::Manifest& manifest) {
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

// The input of a split, and its options.
struct SplitTask {
  const SplitRequest& asked;
  const Session& session;
  const pipeline::Cache& cache;
  const dedup::ColumnSource& columns;
  const dedup::SplitOptions& options;
  const dedup::LinksWithEvidence& links;
};

// The blocks with two or more images.
dedup::GroupsWithEvidence blocks_of(const SplitTask& task, const dedup::Selection& selection) {
  return dedup::components_with_evidence(selection, task.columns,
                                         {.hash = task.options.hash,
                                          .threshold = task.options.threshold,
                                          .verified = task.links.verified.get(),
                                          .decided = task.options.decided.get()});
}

// Writes the page if it was asked for.
void show(const SplitTask& task, const dedup::Selection& selection,
          const dedup::GroupsWithEvidence& blocks, GalleryFrame frame) {
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

void make_splits(const SplitTask& task) {
  const auto& [o, session, cache, columns, options, links] = task;
  dedup::SplitResult result = dedup::make_splits(columns, options, links.source);
  result.selection.name = o.name;
  result.selection.cache_digest = cache.digest();
  const dedup::GroupsWithEvidence blocks = blocks_of(task, result.selection);
  show(task, result.selection, blocks, split_frame(result.summary, cache.manifest()));
  {
    const Fd lock = cache.lock_selections(session.stop);
    keep_previous(session, cache, result.selection);
    cache.write_selection(result.selection, &blocks);
  }
  if (o.output.json) {
    print(session,
          fmt::format("{}\n", json_of_splits(result.summary, options, cache.manifest()).dump()));
  } else {
    print_splits(session, result.summary, cache.manifest());
  }
  tell(session, result.summary);
  say_each(session, remarks_on_classes(cache, result.selection));
}

// An earlier call may have made more folds: says which selections do not belong to these.
void tell_others(const SplitTask& task) {
  const std::vector<std::string> there = task.cache.selections();  // sorted
  const std::uint32_t folds = task.asked.shares.folds;
  std::uint32_t last = folds;
  while (std::ranges::binary_search(there, fold_name(task.asked.name, last + 1))) ++last;
  if (last == folds) return;
  say(task.session,
      fmt::format("selections '{}' to '{}' belong to folds that were made before",
                  fold_name(task.asked.name, folds + 1), fold_name(task.asked.name, last)));
}

// Writes selections one after the other, each whole. The same call makes the same selections, so it
// repairs what a killed one left.
void make_folds(const SplitTask& task) {
  const auto& [o, session, cache, columns, options, links] = task;
  const dedup::FoldsResult result =
      dedup::make_folds(columns, options, o.shares.folds, links.source);
  const dedup::GroupsWithEvidence blocks = blocks_of(task, result.common);
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
    print(session,
          fmt::format("{}\n",
                      json_of_folds(result.summary, o.name, options, cache.manifest()).dump()));
  } else {
    print_folds(session, result.summary, o.name, cache.manifest());
  }
  tell(session, result.summary);
  tell_others(task);
}

// Throws UsageError for options that do not go with folds.
void check_folds(const SplitRequest& o) {
  if (o.shares.any()) {
    throw UsageError("folds have equal sizes; leave out --train, --val and --test");
  }
  if (o.split.dealing.stay) {
    throw UsageError(
        "with --folds every sample is in val once, so none can stay in its split; leave out "
        "--stay");
  }
  // The longest name is that of a replaced selection.
  if (!pipeline::is_selection_name(fold_name(o.name, o.shares.folds) + ".previous")) {
    throw UsageError(
        "'" + o.name +
        "' is too long: the number of the fold is added to the name of each selection");
  }
}

void decide(const SplitRequest& o, const Session& session, const dedup::SharedWork& work) {
  pipeline::check_selection_name(o.name);
  check_choice(o.compare.choice);
  check_hash(o.compare.choice);
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
  dedup::Options how{.policy = {.keep = dedup::KeepPolicy::kFirst},  // no image is chosen
                     .matching = {.least_quality = o.compare.choice.least_quality}};
  const dedup::LinksWithEvidence links =
      settle_links(session, {o.compare.choice, o.compare.features},
                   images_of(cache, pipeline::pictures_of(cache)), work, columns, how);
  options.hash = how.hash;
  options.threshold = how.threshold;
  options.chosen_by = how.chosen_by;
  options.matching = how.matching;
  const SplitTask task{o, session, cache, columns, options, links};
  if (o.shares.folds > 0) {
    make_folds(task);
  } else {
    make_splits(task);
  }
  if (options.decided) {
    report_constraints(session, *options.decided);
    if (!options.decided->dropped.empty()) {
      say(session,
          fmt::format("{} in no split, because judgements drop them",
                      count_of(options.decided->dropped.size(), "image is", "images are")));
    }
  }
  say(session, o.shares.folds == 0
                   ? fmt::format("selection '{}' written", o.name)
                   : fmt::format("selections '{}' to '{}' written", fold_name(o.name, 1),
                                 fold_name(o.name, o.shares.folds)));
}

}  // namespace

void run_split(const SplitRequest& o, Session& session) {
  const ChoiceOptions& choice = o.compare.choice;
  with_shared_work(
      session,
      /*all_links=*/chooses(choice) || choice.verify.value_or(false) || !o.reviews.empty(),
      [&](const dedup::SharedWork& work) { decide(o, session, work); });
}

}  // namespace winnow::app
