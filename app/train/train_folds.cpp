#include "app/train/train_folds.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

#include "app/dedup/compared.h"
#include "app/dedup/search.h"
#include "app/experiment/fold_places.h"
#include "app/split/split_report.h"
#include "app/words.h"
#include "common/comm/agreement.h"
#include "common/error.h"
#include "common/file.h"
#include "common/json.h"
#include "common/utf8.h"
#include "dedup/decisions/settings.h"
#include "dedup/lists/groups_with_evidence.h"
#include "dedup/split/folds.h"
#include "pipeline/export/thumbnails.h"
#include "pipeline/load/dataset.h"
#include "pipeline/store/cache.h"
#include "train/nets/losses.h"
#include "train/run/evaluations/evaluate_run.h"
#include "train/run/evaluations/out_of_fold.h"

namespace winnow::app {
namespace {

namespace fs = std::filesystem;

void check_folds(const train::LossOptions& loss, double holdout,
                 const train::EvaluationOptions& evaluation) {
  if (!train::find_loss(loss.name).reads_labels()) {
    throw UsageError("--folds needs a loss that uses labels, but --loss " + loss.name +
                     " uses none; leave out --folds");
  }
  if (holdout > 0) {
    throw UsageError("with --folds each fold is held out in turn; leave out --holdout");
  }
  if (!evaluation.keep_best.empty() || evaluation.patience > 0) {
    throw UsageError(
        "with --folds the labels of the held-out fold must not choose the checkpoint; leave out "
        "--keep-best and --early-stop");
  }
}

// Throws UsageError if the folder has content that folds do not make.
void check_run_folder(const fs::path& run) {
  if (!fs::exists(run)) return;
  if (!fs::is_directory(run))
    throw UsageError(run.string() + " is not a folder; choose another --out");
  for (const auto& entry : fs::directory_iterator(run)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("fold-") || name.starts_with("out-of-fold.")) continue;
    throw UsageError(run.string() + " contains other files, such as " + name +
                     "; choose another --out");
  }
}

std::string name_of_folds(const train::DataOptions& data, std::uint32_t count) {
  return fmt::format("{}folds{}", data.selection.empty() ? "" : data.selection + "-", count);
}

// The samples that are divided into folds.
struct Chosen {
  dedup::Selection selection;
  std::optional<dedup::GroupsWithEvidence> groups;  // groups that no fold splits; nullopt: unknown
};

// Keeps everything. Groups are the duplicates that `winnow split` keeps together.
Chosen choose_all(const Session& session, const pipeline::Cache& cache, dedup::ColumnSource columns,
                  const dedup::SharedWork& work) {
  dedup::Options how{.policy = {.keep = dedup::KeepPolicy::kFirst}};  // no image is chosen
  const dedup::LinksWithEvidence links =
      settle_links(session, {}, images_of(cache, pipeline::pictures_of(cache)), work, columns, how);
  dedup::Selection found = dedup::deduplicate(columns, how, links.source).selection;
  dedup::Selection all = dedup::keep_all(found.ids);
  all.components = std::move(found.components);
  const dedup::SplitOptions dealt{.hash = how.hash,
                                  .threshold = how.threshold,
                                  .chosen_by = how.chosen_by,
                                  .of = {true, true, true, false},
                                  .matching = how.matching};
  all.settings = dedup::settings_of(dealt, std::nullopt);
  dedup::GroupsWithEvidence groups = dedup::components_with_evidence(
      all, columns,
      {.hash = how.hash, .threshold = how.threshold, .verified = links.verified.get()});
  return {std::move(all), std::move(groups)};
}

Chosen choose(const Session& session, const pipeline::Cache& cache, const std::string& name) {
  dedup::Selection selection = cache.read_selection(name);
  auto groups = groups_beside(session, cache, selection);
  return {std::move(selection), std::move(groups)};
}

void write_folds(const Session& session, const train::DataOptions& data,
                 const std::vector<std::string>& names, const dedup::SharedWork& work) {
  const pipeline::Cache cache = pipeline::Cache::open(data.cache);
  if (!can_keep_selections(cache.paths())) {
    throw SystemError(data.cache.string() +
                      " cannot be written to, but the folds are stored there as selections; train "
                      "on a copy of the cache");
  }
  const dedup::ColumnSource columns = stoppable(cache.open_fingerprints(), session);
  const Chosen chosen = data.selection.empty() ? choose_all(session, cache, columns, work)
                                               : choose(session, cache, data.selection);
  std::vector<dedup::Selection> folds = dedup::folds_of(
      chosen.selection, columns({"labels", "groups"}), static_cast<std::uint32_t>(names.size()));
  const Fd lock = cache.lock_selections(session.stop);
  for (std::size_t fold = 0; fold < folds.size(); ++fold) {
    folds[fold].name = names[fold];
    folds[fold].cache_digest = cache.digest();
    keep_previous(session, cache, folds[fold]);
    cache.write_selection(folds[fold], chosen.groups ? &*chosen.groups : nullptr);
  }
  say(session, fmt::format("folds: selections '{}' to '{}'", names.front(), names.back()));
}

// Predictions of one fold's net for its samples. Rank 0.
struct FoldPrediction {
  std::vector<SampleId> ids;
  std::vector<float> probabilities;
};

train::EvalResult predict(const fs::path& run, const train::DataOptions& data,
                          const std::string& tta, const train::ExecutionOptions& execution,
                          Session& session) {
  const ProgressSink watch = stopping_bar(session, "predict", "batches",
                                          "stopped; go on by the same command with --resume auto");
  return train::evaluate_run({.run = run,
                              .file = {},
                              .data = {.cache = data.cache,
                                       .placement = data.placement,
                                       .selection = data.selection,
                                       .split = "val",
                                       .tta = tta},
                              .with_logits = true,
                              .backend = execution.backend,
                              .dtype = execution.dtype,
                              .threads = execution.threads},
                             session.comm, watch,
                             [&](const std::string& sentence) { say(session, sentence); });
}

// The samples of all folds, in the order of ids.
void join(const std::vector<FoldPrediction>& parts, train::OutOfFold& joined) {
  const std::vector<FoldPlace> places = places_by_id(parts);
  const std::size_t classes = joined.classes.size();
  joined.probabilities.reserve(places.size() * classes);
  for (const FoldPlace& place : places) {
    joined.ids.push_back(place.id);
    joined.fold.push_back(place.fold);
    const auto row =
        std::span(parts[place.fold].probabilities).subspan(place.sample * classes, classes);
    joined.probabilities.insert(joined.probabilities.end(), row.begin(), row.end());
  }
}

void write(const train::DataOptions& data, const fs::path& run,
           const std::vector<FoldPrediction>& parts, bool sigmoid) {
  const fs::path& elsewhere = data.placement.files_at;
  const pipeline::Cache cache = pipeline::Cache::open(elsewhere.empty() ? data.cache : elsewhere,
                                                      pipeline::OpenOptions::without_shards());
  train::OutOfFold joined{.about = {.cache_digest = cache.digest(),
                                    .digest_by_names = pipeline::digest_by_names(cache),
                                    .selection = data.selection,
                                    .folds = static_cast<std::uint32_t>(parts.size()),
                                    .sigmoid = sigmoid},
                          .classes = {}};
  const std::vector<std::string>& classes = cache.manifest().classes;
  for (const std::string& name : classes) joined.classes.push_back(to_utf8(name));
  join(parts, joined);
  const dedup::Fingerprints table = cache.open_fingerprints()({"labels"});
  const pipeline::LedgerNames names = cache.read_names();
  const auto labels = [&](std::size_t sample) {
    const auto row = std::ranges::lower_bound(table.ids, joined.ids[sample]) - table.ids.begin();
    std::string text;
    for (const std::int32_t label : table.labels[static_cast<std::size_t>(row)]) {
      text += (text.empty() ? "" : "|") + classes.at(static_cast<std::size_t>(label));
    }
    return text;
  };
  write_out_of_fold(run, joined, {[&](SampleId id) { return names(id); }, labels});
}

// Figures over all folds.
struct Sums {
  std::uint64_t samples = 0;
  double correct = 0;
  double loss = 0;
  Json folds = Json::array();

  void add(const fs::path& run, const train::TrainResult& trained,
           const train::EvalResult& predicted) {
    const auto count = static_cast<double>(predicted.evaluation.samples);
    samples += predicted.evaluation.samples;
    correct += predicted.evaluation.top1 * count;
    loss += predicted.evaluation.loss * count;
    folds.push_back({{"fold", folds.size() + 1},
                     {"run", to_utf8(run.string())},
                     {"epoch", trained.epoch},
                     {"train_loss", trained.train_loss},
                     {"samples", predicted.evaluation.samples},
                     {"top1", predicted.evaluation.top1},
                     {"loss", predicted.evaluation.loss}});
  }
  double top1() const { return correct / static_cast<double>(samples); }
};

}  // namespace

std::vector<std::string> make_fold_selections(const train::DataOptions& data,
                                              const train::LossOptions& loss,
                                              const train::RunOptions& run, std::uint32_t count,
                                              const Session& session) {
  std::vector<std::string> names;
  for (std::uint32_t fold = 1; fold <= count; ++fold) {
    names.push_back(fold_name(name_of_folds(data, count), fold));
  }
  comm::on_root(session.comm, [&] {
    check_folds(loss, data.holdout, run.evaluation);
    check_run_folder(run.out);
    // The longest name is that of a replaced selection.
    pipeline::check_selection_name(names.back() + ".previous");
  });
  with_shared_work(session, /*all_links=*/data.selection.empty(),
                   [&](const dedup::SharedWork& work) { write_folds(session, data, names, work); });
  comm::on_root(session.comm, [&] { make_directories(run.out); });
  return names;
}

void train_folds(const train::TrainOptions& options, const std::vector<std::string>& selections,
                 const TrainOne& train_one, bool json, Session& session) {
  const bool sigmoid = train::find_loss(options.recipe.loss.name).sigmoid;
  std::vector<FoldPrediction> parts(selections.size());
  Sums sums;
  for (std::size_t fold = 0; fold < selections.size(); ++fold) {
    train::TrainOptions one = options;
    one.data.selection = selections[fold];
    one.run.out = options.run.out / ("fold-" + std::to_string(fold + 1));
    say(session, fmt::format("fold {} of {}", fold + 1, selections.size()));
    const train::TrainResult trained = train_one(one);
    train::EvalResult predicted =
        predict(one.run.out, one.data, one.run.evaluation.tta, one.execution, session);
    sums.add(one.run.out, trained, predicted);
    const std::vector<float>& logits = predicted.evaluation.logits;  // empty on ranks other than 0
    parts[fold] = {std::move(predicted.ids),
                   train::probabilities_of(logits, predicted.classes.size(), sigmoid)};
  }
  comm::on_root(session.comm, [&] { write(options.data, options.run.out, parts, sigmoid); });
  say(session,
      fmt::format("accuracy {} on {}, each predicted by the net that was not trained on it; "
                  "probabilities: {}",
                  percent(sums.top1()), count_of(sums.samples, "image"),
                  (options.run.out / "out-of-fold.npy").string()));
  if (!json || session.comm.rank() != 0) return;
  print(session, fmt::format("{}\n", Json{{"schema", "winnow.train_folds/1"},
                                          {"samples", sums.samples},
                                          {"top1", sums.top1()},
                                          {"loss", sums.loss / static_cast<double>(sums.samples)},
                                          {"folds", std::move(sums.folds)}}
                                         .dump()));
}

}  // namespace winnow::app
