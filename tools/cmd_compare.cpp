#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/file.h"
#include "common/utf8.h"
#include "pipeline/export/thumbnails.h"
#include "pipeline/store/cache.h"
#include "tools/checkpoint_flags.h"
#include "tools/command.h"
#include "tools/compare_page.h"
#include "tools/experiment/compare.h"
#include "tools/flags/flags.h"
#include "tools/gallery_report.h"
#include "tools/numbers.h"
#include "tools/progress_bar.h"
#include "tools/read_runs.h"
#include "tools/report/words.h"
#include "train/run/evaluate_run.h"
#include "train/run/out_of_fold.h"

namespace winnow::tools {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::uint64_t kBytesOfDifferences = 4'000'000;  // of all recipes together
constexpr std::size_t kMostDifferences = 36;              // gained, or lost, of a recipe

struct CompareOptions {
  std::vector<fs::path> runs;
  train::EvalOptions eval;  // of each run
  std::optional<double> margin_points;
  fs::path report;
  int threads = 0;
  bool json = false;
};

std::optional<double> margin_of(const CompareOptions& o) {
  if (!o.margin_points) return std::nullopt;
  return *o.margin_points / 100;
}

fs::path cache_of(const CompareOptions& o, const std::vector<RunView>& views) {
  if (!o.eval.data.cache.empty()) return o.eval.data.cache;
  for (const RunView& view : views) {
    if (view.evaluation) return view.evaluation->about.cache;
  }
  throw UsageError("no run says which cache it was evaluated on; name it by --cache");
}

// A run on that split of the cache. `bar`: what it is called while it goes on.
ComparedRun evaluate_one(const train::EvalOptions& options, const std::string& bar,
                         Session& session, ComparePage& page) {
  const ProgressSink watch = make_stopping_bar(
      session, bar, "batches", "stopped before the end; run the same command again");
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

// Each run by itself, all on one split.
void evaluate_runs(const CompareOptions& o, Session& session, ComparePage& page) {
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

// How many folds each of the folders holds; 0: they are runs. Throws UsageError: some of both, or
// not as many.
std::uint32_t count_folds(const CompareOptions& o) {
  std::uint32_t folds = 0;
  for (const fs::path& path : o.runs) {
    if (holds_folds(path) != holds_folds(o.runs.front())) {
      throw UsageError(
          fmt::format("of {} and {} one is a run and one holds a run for each fold; name runs "
                      "alone, or folders "
                      "of folds alone",
                      o.runs.front().string(), path.string()));
    }
    if (!holds_folds(path)) continue;
    const std::uint32_t here = train::read_out_of_fold(path).about.folds;
    if (folds == 0) folds = here;
    if (here != folds) {
      throw UsageError(fmt::format("{} is of {} folds and {} of {}; name folders of as many",
                                   o.runs.front().string(), folds, path.string(), here));
    }
  }
  if (folds > 0 && !o.eval.data.split.empty() && o.eval.data.split != "val") {
    throw UsageError("folds are compared on what each left out; leave --split out");
  }
  return folds;
}

// The folds of each folder by themselves, each on what it left out.
void evaluate_folds(const CompareOptions& o, Session& session, ComparePage& page) {
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

// The images that differ, of each recipe, with names and pictures of the cache.
void show_differences(const fs::path& root, const Session& session, ComparePage& page) {
  for (const BesideFirst& beside : page.comparison.others) {
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

std::uint64_t count_right(const ComparedRun& run) {
  std::uint64_t right = 0;
  for (std::size_t i = 0; i < run.ids.size(); ++i) right += run.labels[i] == run.predictions[i];
  return right;
}

void tell(const ComparePage& page, const Session& session) {
  const std::size_t images = page.comparison.images;
  for (std::size_t recipe = 0; recipe < page.comparison.recipes.size(); ++recipe) {
    for (const std::size_t i : page.comparison.recipes[recipe]) {
      const std::uint64_t right = count_right(page.runs[i]);
      const Interval range = wilson(right, images);
      say(session, fmt::format("{}: recipe {}, seed {}: {} of {} images of {} right, {} ({} to {})",
                               page.runs[i].name, recipe + 1, page.runs[i].seed(), grouped(right),
                               grouped(images), page.split,
                               percent(static_cast<double>(right) / static_cast<double>(images)),
                               percent(range.least), percent(range.most)));
    }
  }
  for (const BesideFirst& beside : page.comparison.others) {
    const std::size_t first = page.comparison.recipes.front().front();
    const std::size_t other = page.comparison.recipes[beside.recipe].front();
    say(session, fmt::format("{} beside {}: {}", recipe_name(page, beside.recipe),
                             recipe_name(page, 0), in_words(beside, page.margin)));
    say(session, fmt::format("  {}", what_differs(page.runs[first], page.runs[other])));
  }
}

Json to_json(const Interval& interval) {
  return {{"least", interval.least}, {"most", interval.most}};
}

Json to_json(const ComparePage& page, const BesideFirst& beside) {
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
            {"over_folds", nullptr},       {"p_holm", nullptr},         {"loss", nullptr}};
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
  if (beside.p) json["p_holm"] = *beside.p;
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
            {"margin", nullptr},
            {"runs", Json::array()},
            {"others", Json::array()}};
  if (page.margin) json["margin"] = *page.margin;
  for (std::size_t recipe = 0; recipe < page.comparison.recipes.size(); ++recipe) {
    for (const std::size_t i : page.comparison.recipes[recipe]) {
      const std::uint64_t right = count_right(page.runs[i]);
      json["runs"].push_back(
          {{"run", to_utf8(page.runs[i].name)},
           {"recipe", recipe + 1},
           {"seed", page.runs[i].seed()},
           {"right", right},
           {"top1", static_cast<double>(right) / static_cast<double>(page.comparison.images)},
           {"range", to_json(wilson(right, page.comparison.images))}});
    }
  }
  for (const BesideFirst& beside : page.comparison.others) {
    json["others"].push_back(to_json(page, beside));
  }
  return json;
}

void run(const CompareOptions& o, Session& session) {
  if (o.runs.size() < 2)
    throw UsageError("name two runs or more; the first is the one compared with");
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
    say(session, fmt::format("compared on the images that all runs have; {} of one run's are left "
                             "out, as others have them elsewhere",
                             grouped(left_out)));
  }
  page.comparison = compare(page.runs, page.margin);
  tell(page, session);
  if (!o.report.empty()) {
    show_differences(cache_of(o, page.views), session, page);
    write_file_durably(o.report, html_of(page, made_here()));
    say(session, fmt::format("report: {}", o.report.string()));
  }
  if (o.json) fmt::print("{}\n", to_json(page).dump());
}

}  // namespace

Command add_compare(Verb program) {
  auto o = std::make_shared<CompareOptions>();
  const Verb verb = program.add_verb(
      "compare", "Compare runs on the same images: paired tests, and the images that differ");
  verb.add_option("runs", o->runs,
                  "Run directories made by winnow train, two or more, or those of winnow train "
                  "--folds; the first is the one that the others are compared with")
      .required();
  verb.add_option("--cache", o->eval.data.cache,
                  "Cache to evaluate on (default: that which the first run was evaluated on)");
  verb.add_option(
      "--split", o->eval.data.split,
      "train, val or test, or holdout: what the runs held out by --holdout (default: "
      "test, else val, else holdout). Choose by val or holdout: what was chosen by test "
      "is better there than elsewhere");
  verb.add_option("--margin", o->margin_points,
                  "Points of accuracy that a recipe may lose and be said to lose nothing; say it "
                  "before you look. Without it no verdict is given")
      .check(real_in(1e-6, 100.0))
      .type_name("POINTS");
  add_checkpoint_flags(verb, o->eval.checkpoint);
  verb.add_option("--tta", o->eval.data.tta,
                  "Test-time augmentation, as of winnow eval; the same for all runs");
  verb.add_flag("--allow-unlabelled", o->eval.data.allow_unlabelled,
                "Runs of bce and focal: an image without a label is of no class, also where a run "
                "was trained without this flag; no run has it right");
  verb.add_option("--threads", o->threads, "Cores to use; 0: this process's share")
      .check(cores())
      .show_default();
  verb.add_option("--report", o->report,
                  "Write a page here, an HTML file: figures, curves, settings, and the images that "
                  "one has right and another has not");
  verb.add_flag("--json", o->json, "Print one JSON object on stdout");
  verb.footer(
      R"(Runs whose settings differ by nothing but the seed are of one recipe. Recipes are paired by seed, and
their difference has Student's interval; of two single runs McNemar's test is of these two nets alone.
Folders of folds are paired fold by fold, on what each fold left out. Folds share training images, so
Student's interval would be too narrow: theirs is that of the corrected resampled t-test (Nadeau and Bengio
2003). p-values of several recipes are corrected by Holm's method.

Examples:
  winnow compare plain deduplicated --report compared.html
  winnow compare plain-1 plain-2 plain-3 lars-1 lars-2 lars-3 --margin 0.5
  winnow compare sgd lars lamb --split val --json
  winnow compare tuning/runs/*/run --split holdout --report compared.html
  winnow compare sgd-folds lars-folds --margin 1 --report compared.html)");
  return {verb, false, [o](Session& session) { run(*o, session); }, /*stops=*/true};
}

}  // namespace winnow::tools
