#include <fmt/core.h>

#include <CLI/CLI.hpp>
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
#include "tools/gallery_report.h"
#include "tools/progress_bar.h"
#include "tools/read_runs.h"
#include "train/run/evaluate_run.h"

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

// Each run on that split of the cache, by itself.
void evaluate_runs(const CompareOptions& o, Session& session, ComparePage& page) {
  train::EvalOptions options = o.eval;
  options.data.cache = cache_of(o, page.views);
  options.threads = thread_plan(session, o.threads);
  for (std::size_t i = 0; i < o.runs.size(); ++i) {
    options.run = o.runs[i];
    if (i > 0) options.data.split = page.split;  // all on one
    const ProgressSink watch =
        make_stopping_bar(session, fmt::format("eval {} of {}", i + 1, o.runs.size()), "batches",
                          "stopped before the end; run the same command again");
    train::EvalResult result = train::evaluate_run(
        options, session.comm, watch, [&](const std::string& sentence) { say(session, sentence); });
    page.split = result.split;
    page.classes = std::move(result.classes);
    page.runs.push_back({.name = page.views[i].name,
                         .settings = page.views[i].settings,
                         .ids = std::move(result.ids),
                         .labels = std::move(result.evaluation.labels),
                         .predictions = std::move(result.evaluation.predictions)});
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
  Json json{{"recipe", beside.recipe + 1},
            {"pairs", std::move(pairs)},
            {"over_seeds", nullptr},
            {"p_holm", nullptr},
            {"loss", nullptr}};
  if (const auto& seeds = beside.over_seeds) {
    json["over_seeds"] = {{"mean", seeds->mean},
                          {"deviation", seeds->deviation},
                          {"difference", to_json(*seeds->interval)}};
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
  for (const fs::path& path : o.runs) page.views.push_back(read_run(path));
  name_apart(page.views, o.runs);
  evaluate_runs(o, session, page);
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

Command add_compare(CLI::App& program) {
  auto o = std::make_shared<CompareOptions>();
  CLI::App* app = program.add_subcommand(
      "compare", "Compare runs on the same images: paired tests, and the images that differ");
  app->add_option("runs", o->runs,
                  "Run directories made by winnow train, two or more; the first is the one that "
                  "the others are compared with")
      ->required();
  app->add_option("--cache", o->eval.data.cache,
                  "Cache to evaluate on (default: that which the first run was evaluated on)");
  app->add_option(
      "--split", o->eval.data.split,
      "train, val or test, or holdout: what the runs held out by --holdout (default: "
      "test, else val, else holdout). Choose by val or holdout: what was chosen by test "
      "is better there than elsewhere");
  app->add_option("--margin", o->margin_points,
                  "Points of accuracy that a recipe may lose and be said to lose nothing; say it "
                  "before you look. Without it no verdict is given")
      ->check(CLI::Range(1e-6, 100.0))
      ->type_name("POINTS");
  add_checkpoint_flags(*app, o->eval.checkpoint);
  app->add_option("--tta", o->eval.data.tta,
                  "Test-time augmentation, as of winnow eval; the same for all runs");
  app->add_option("--threads", o->threads, "Cores to use; 0: this process's share")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app->add_option("--report", o->report,
                  "Write a page here, an HTML file: figures, curves, settings, and the images that "
                  "one has right and another has not");
  app->add_flag("--json", o->json, "Print one JSON object on stdout");
  app->footer(
      R"(Runs whose settings differ by nothing but the seed are of one recipe. Recipes are paired by seed, and
their difference has Student's interval; of two single runs McNemar's test is of these two nets alone.
p-values of several recipes are corrected by Holm's method.

Examples:
  winnow compare plain deduplicated --report compared.html
  winnow compare plain-1 plain-2 plain-3 lars-1 lars-2 lars-3 --margin 0.5
  winnow compare sgd lars lamb --split val --json
  winnow compare tuning/runs/*/run --split holdout --report compared.html
  winnow compare sgd/fold-1 lars/fold-1 --split val)");
  return {app, false, [o](Session& session) { run(*o, session); }, /*stops=*/true};
}

}  // namespace winnow::tools
