#include "app/compare/compare.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "app/compare/compare_page.h"
#include "app/dedup/gallery.h"
#include "app/experiment/compare.h"
#include "app/report/read_runs.h"
#include "app/words.h"
#include "common/error.h"
#include "common/file.h"
#include "common/json.h"
#include "common/utf8.h"
#include "pipeline/export/thumbnails.h"
#include "pipeline/store/cache.h"
#include "train/run/evaluations/out_of_fold.h"
#include "train/run/record/stored_evaluation.h"

namespace winnow::app {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kBytesOfDifferences = 4'000'000;  // over all recipes
constexpr std::size_t kMostDifferences = 36;              // gained or lost, per recipe

std::optional<double> margin_of(const CompareRequest& o) {
  if (!o.margin_points) return std::nullopt;
  return *o.margin_points / 100;
}

fs::path cache_of(const CompareRequest& o, const std::vector<RunView>& views) {
  if (!o.eval.data.cache.empty()) return o.eval.data.cache;
  for (const RunView& view : views) {
    if (view.evaluation) return view.evaluation->about.cache;
  }
  throw UsageError(
      "the runs do not record on which cache they were evaluated; name it with --cache");
}

// Evaluates a run on a split of the cache. `bar`: title of the progress bar.
ComparedRun evaluate_one(const train::EvalOptions& options, const std::string& bar,
                         Session& session, ComparePage& page) {
  const ProgressSink watch =
      stopping_bar(session, bar, "batches", "stopped before the end; run the same command again");
  train::EvalResult result = train::evaluate_run(
      options, session.comm, watch, [&](const std::string& sentence) { say(session, sentence); });
  page.split = result.split;
  page.classes = std::move(result.classes);
  return {.name = {},
          .settings = {},
          .ids = std::move(result.ids),
          .labels = std::move(result.evaluation.labels),
          .predictions = std::move(result.evaluation.predictions)};
}

// Evaluates each run, all on one split.
void evaluate_runs(const CompareRequest& o, Session& session, ComparePage& page) {
  train::EvalOptions options = o.eval;
  options.data.cache = cache_of(o, page.views);
  options.threads = thread_plan(session, o.threads);
  for (std::size_t i = 0; i < o.runs.size(); ++i) {
    options.run = o.runs[i];
    if (i > 0) options.data.split = page.split;
    page.runs.push_back(
        evaluate_one(options, fmt::format("eval {} of {}", i + 1, o.runs.size()), session, page));
    page.runs.back().name = page.views[i].name;
    page.runs.back().settings = page.views[i].settings;
  }
}

fs::path fold_of(const fs::path& folder, std::uint32_t fold) {
  return folder / ("fold-" + std::to_string(fold));
}

bool holds_folds(const fs::path& path) {
  return !fs::exists(path / "config.json") && fs::exists(fold_of(path, 1) / "config.json");
}

// The number of folds of each folder; 0: the folders are runs.
// Throws UsageError: some are runs and some have folds, or their numbers of folds differ.
std::uint32_t count_folds(const CompareRequest& o) {
  std::uint32_t folds = 0;
  for (const fs::path& path : o.runs) {
    if (holds_folds(path) != holds_folds(o.runs.front())) {
      throw UsageError(
          fmt::format("one of {} and {} is a run, the other a folder of folds; name only runs, or "
                      "only folders of folds",
                      o.runs.front().string(), path.string()));
    }
    if (!holds_folds(path)) continue;
    const std::uint32_t here = train::read_out_of_fold(path).about.folds;
    if (folds == 0) folds = here;
    if (here != folds) {
      throw UsageError(
          fmt::format("{} has {} folds and {} has {}; name folders with the same number of folds",
                      o.runs.front().string(), folds, path.string(), here));
    }
  }
  if (folds > 0 && !o.eval.data.split.empty() && o.eval.data.split != "val") {
    throw UsageError("folds are compared on the images that each fold held out; leave out --split");
  }
  return folds;
}

// Evaluates the folds of each folder, each on the images that it left out.
void evaluate_folds(const CompareRequest& o, Session& session, ComparePage& page) {
  train::EvalOptions options = o.eval;
  options.data.cache = cache_of(o, page.views);
  options.data.split = "val";
  options.threads = thread_plan(session, o.threads);
  const std::size_t all = o.runs.size() * page.folds;
  for (std::size_t i = 0; i < o.runs.size(); ++i) {
    std::vector<ComparedRun> folds;
    for (std::uint32_t fold = 1; fold <= page.folds; ++fold) {
      options.run = fold_of(o.runs[i], fold);
      folds.push_back(evaluate_one(
          options, fmt::format("eval {} of {}", i * page.folds + fold, all), session, page));
      folds.back().settings = read_run(options.run).settings;
    }
    page.runs.push_back(join_folds(folds, page.views[i].name));
    page.views[i].settings = page.runs.back().settings;
  }
}

std::vector<ShownDifference> first_of(std::span<const DifferingImage> images) {
  std::vector<ShownDifference> shown;
  for (const DifferingImage& image : images.first(std::min(images.size(), kMostDifferences))) {
    shown.push_back({.image = image});
  }
  return shown;
}

// Adds the images that differ to the page, for each recipe, with names and pictures of the cache.
void show_differences(const fs::path& root, const Session& session, ComparePage& page) {
  for (const ComparisonWithFirst& beside : page.comparison.others) {
    const DifferingImages found = differing_images(page.runs, page.comparison, beside.recipe);
    ShownDifferences shown{.gained = first_of(found.gained), .lost = first_of(found.lost)};
    shown.more_gained = found.gained.size() - shown.gained.size();
    shown.more_lost = found.lost.size() - shown.lost.size();
    page.differences.push_back(std::move(shown));
  }
  const pipeline::Cache cache = pipeline::Cache::open(root);
  const pipeline::LedgerNames name_of = cache.read_names();
  std::vector<ShownDifference*> all;
  std::vector<SampleId> ids;
  for (ShownDifferences& shown : page.differences) {
    for (std::vector<ShownDifference>* const part : {&shown.gained, &shown.lost}) {
      for (ShownDifference& difference : *part) {
        all.push_back(&difference);
        ids.push_back(page.runs.front().ids[difference.image.place]);
        difference.name = name_of(ids.back());
      }
    }
  }
  const pipeline::PictureOf picture_of = pipeline::pictures_of(cache);
  if (!picture_of) {
    page.no_pictures = kNoPicturesInCache;
    return;
  }
  pipeline::Thumbnails pictures = pipeline::make_thumbnails(
      picture_of, ids, {.most_bytes = kBytesOfDifferences, .stop = session.stop});
  for (std::size_t i = 0; i < all.size(); ++i) all[i]->jpeg = std::move(pictures.jpegs[i]);
}

void tell(const ComparePage& page, const Session& session) {
  const std::size_t images = page.comparison.images;
  for (std::size_t recipe = 0; recipe < page.comparison.recipes.size(); ++recipe) {
    for (const std::size_t i : page.comparison.recipes[recipe]) {
      const std::uint64_t right = page.runs[i].right();
      const Interval range = wilson(right, images);
      say(session,
          fmt::format(
              "{}: recipe {}, seed {}: {} of {} images of {} right, {} (95 % limits {} to {})",
              page.runs[i].name, recipe + 1, page.runs[i].seed(), grouped(right), grouped(images),
              page.split, percent(static_cast<double>(right) / static_cast<double>(images)),
              percent(range.least), percent(range.most)));
    }
  }
  for (const ComparisonWithFirst& beside : page.comparison.others) {
    const std::size_t first = page.comparison.recipes.front().front();
    const std::size_t other = page.comparison.recipes[beside.recipe].front();
    say(session, fmt::format("{} versus {}: {}", recipe_name(page, beside.recipe),
                             recipe_name(page, 0), in_words(beside, page.margin)));
    say(session, fmt::format("  {}", what_differs(page.runs[first], page.runs[other])));
  }
}

Json to_json(const Interval& interval) {
  return {{"least", interval.least}, {"most", interval.most}};
}

Json to_json(const ComparePage& page, const ComparisonWithFirst& beside) {
  Json pairs = Json::array();
  for (const RunPair& pair : beside.pairs) {
    pairs.push_back({{"first", to_utf8(page.runs[pair.first].name)},
                     {"other", to_utf8(page.runs[pair.other].name)},
                     {"both", pair.hits.both},
                     {"only_first", pair.hits.only_a},
                     {"only_other", pair.hits.only_b},
                     {"neither", pair.hits.neither},
                     {"p", pair.p},
                     {"difference", to_json(pair.difference)}});
  }
  Json json{{"recipe", beside.recipe + 1}, {"pairs", std::move(pairs)}, {"over_seeds", nullptr},
            {"over_folds", nullptr},       {"p_holm", beside.p},        {"loss", nullptr}};
  const auto over = [](const PairedDifference& all) {
    return Json{
        {"mean", all.mean}, {"deviation", all.deviation}, {"difference", to_json(*all.interval)}};
  };
  if (beside.over_seeds) json["over_seeds"] = over(*beside.over_seeds);
  if (beside.over_folds) {
    json["over_folds"] = over(*beside.over_folds);
    for (const FoldPair& fold : beside.folds) {
      json["over_folds"]["folds"].push_back({{"fold", fold.fold},
                                             {"images", fold.images},
                                             {"first", fold.first},
                                             {"other", fold.other}});
    }
  }
  if (beside.loss) {
    json["loss"] = *beside.loss == Loss::kNone   ? "none"
                   : *beside.loss == Loss::kSome ? "some"
                                                 : "unknown";
  }
  return json;
}

Json to_json(const ComparePage& page) {
  Json json{{"schema", "winnow.compare/1"},
            {"split", page.split},
            {"images", page.comparison.images},
            {"folds", page.folds == 0 ? Json(nullptr) : Json(page.folds)},
            {"margin", page.margin},
            {"runs", Json::array()},
            {"others", Json::array()}};
  for (std::size_t recipe = 0; recipe < page.comparison.recipes.size(); ++recipe) {
    for (const std::size_t i : page.comparison.recipes[recipe]) {
      const std::uint64_t right = page.runs[i].right();
      json["runs"].push_back(
          {{"run", to_utf8(page.runs[i].name)},
           {"recipe", recipe + 1},
           {"seed", page.runs[i].seed()},
           {"right", right},
           {"right_by_image", train::right_digits(page.runs[i].labels, page.runs[i].predictions)},
           {"top1", static_cast<double>(right) / static_cast<double>(page.comparison.images)},
           {"range", to_json(wilson(right, page.comparison.images))}});
    }
  }
  for (const ComparisonWithFirst& beside : page.comparison.others) {
    json["others"].push_back(to_json(page, beside));
  }
  return json;
}

}  // namespace

void run_compare(const CompareRequest& o, Session& session) {
  if (o.runs.size() < 2)
    throw UsageError("name two runs or more; the others are compared with the first");
  if (!o.report.empty()) check_report_path(o.report);
  ComparePage page;
  page.margin = margin_of(o);
  page.folds = count_folds(o);
  for (const fs::path& path : o.runs) {
    page.views.push_back(read_run(page.folds > 0 ? fold_of(path, 1) : path));
    if (page.folds > 0) page.views.back().name = name_of_folder(path);
  }
  name_apart(page.views, o.runs);
  page.folds > 0 ? evaluate_folds(o, session, page) : evaluate_runs(o, session, page);
  if (const std::size_t left_out = keep_common_images(page.runs); left_out > 0) {
    say(session,
        fmt::format("compared on the images that all runs have; up to {} left out of a run",
                    count_of(left_out, "image is", "images are")));
  }
  page.comparison = compare(page.runs, page.margin);
  tell(page, session);
  if (!o.report.empty()) {
    show_differences(cache_of(o, page.views), session, page);
    write_file_durably(o.report, html_of(page, made_here()));
    say(session, fmt::format("report: {}", o.report.string()));
  }
  if (o.json) print(session, fmt::format("{}\n", to_json(page).dump()));
}

}  // namespace winnow::app
