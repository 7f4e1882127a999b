#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/file.h"
#include "dedup/hash/hashes.h"
#include "dedup/tune/curve.h"
#include "pipeline/ingest/ingest.h"
#include "pipeline/recall/recall.h"
#include "pipeline/store/cache.h"
#include "tools/command.h"
#include "tools/progress_bar.h"
#include "tools/report/lines.h"

namespace winnow::tools {
namespace {

using dedup::Curve;
using dedup::CurvePoint;
using pipeline::EditRecall;

struct TuneOptions {
  std::filesystem::path cache;
  std::vector<std::string> hashes;
  int most = -1;
  std::optional<double> precision;
  std::size_t images = 200;
  std::uint64_t seed = 0;
  std::filesystem::path plot;
  int threads = 0;
  bool json = false;
};

// What is known of one hash.
struct Tuned {
  Curve curve;
  std::vector<EditRecall> edits;  // none where nothing was edited

  std::optional<double> recall(const CurvePoint& point) const {
    if (edits.empty()) return std::nullopt;
    return pipeline::expected_recall(edits, point.threshold);
  }
};

std::string percent(const std::optional<double>& share) {
  return share ? fmt::format("{:.1f} %", 100 * *share) : "-";
}

void print_table(const Tuned& tuned) {
  const Curve& curve = tuned.curve;
  const bool by_class = curve.by == dedup::FalsePairs::kByClass;
  fmt::print("{} of {} images; false pairs judged by {}\n", curve.hash, grouped(curve.images),
             by_class ? fmt::format("the classes of pairs: two random images differ in {:.1f} %",
                                    100 * curve.chance)
                      : fmt::format("the distances of random pairs: {:.1f} of {} bits, {:.0f} of "
                                    "them independent",
                                    curve.mean, curve.bits, curve.freedom));
  fmt::print("{:>5}{:>16}{:>14}{:>14}{:>11}{:>10}{:>9}{:>15}\n", "bits", "pairs", "other class",
             "false pairs", "precision", "at least", "recall", "images that go");
  for (const CurvePoint& p : curve.points) {
    fmt::print("{:>5}{:>16}{:>14}{:>14}{:>11}{:>10}{:>9}{:>15}\n", p.threshold, grouped(p.pairs),
               by_class ? grouped(p.other_class) : "-", fmt::format("{:.1f}", p.false_pairs),
               percent(p.precision), percent(p.precision_at_least), percent(tuned.recall(p)),
               grouped(p.removable));
  }
}

void print_edits(const Tuned& tuned) {
  if (tuned.edits.empty()) return;
  const std::size_t last = tuned.curve.points.size() - 1;
  const std::vector<int> thresholds{0, static_cast<int>(last) / 3, static_cast<int>(2 * last) / 3,
                                    static_cast<int>(last)};
  fmt::print("\n{:34}", fmt::format("{}: found within", tuned.curve.hash));
  for (const int t : thresholds) fmt::print("{:>10}", fmt::format("{} bits", t));
  fmt::print("\n");
  for (const EditRecall& edit : tuned.edits) {
    fmt::print("{:34}", edit.name);
    for (const int t : thresholds) fmt::print("{:>10}", percent(edit.at(t)));
    fmt::print("\n");
  }
}

nlohmann::ordered_json json_of(const Tuned& tuned, std::optional<double> precision) {
  const Curve& curve = tuned.curve;
  nlohmann::ordered_json json{
      {"hash", curve.hash},
      {"bits", curve.bits},
      {"images", curve.images},
      {"false_pairs_by", curve.by == dedup::FalsePairs::kByClass ? "class" : "distance"},
      {"chance_of_other_class", curve.chance},
      {"mean_distance", curve.mean},
      {"independent_bits", curve.freedom}};
  if (precision) {
    if (const auto threshold = threshold_for(curve, *precision)) json["chosen"] = *threshold;
  }
  json["thresholds"] = nlohmann::ordered_json::array();
  for (const CurvePoint& p : curve.points) {
    nlohmann::ordered_json point{{"threshold", p.threshold},     {"pairs", p.pairs},
                                 {"labelled_pairs", p.labelled}, {"other_class", p.other_class},
                                 {"false_pairs", p.false_pairs}, {"by_chance", p.by_chance},
                                 {"grouped", p.grouped},         {"removable", p.removable}};
    if (p.precision) point["precision"] = *p.precision;
    if (p.precision_at_least) point["precision_at_least"] = *p.precision_at_least;
    if (const auto recall = tuned.recall(p)) point["recall"] = *recall;
    json["thresholds"].push_back(std::move(point));
  }
  json["edits"] = nlohmann::ordered_json::array();
  for (const EditRecall& edit : tuned.edits) {
    nlohmann::ordered_json found = nlohmann::ordered_json::array();
    for (const CurvePoint& p : curve.points) found.push_back(edit.at(p.threshold));
    json["edits"].push_back({{"family", edit.family}, {"edit", edit.name}, {"found", found}});
  }
  return json;
}

LineChart chart_of(const std::vector<Tuned>& all, const std::filesystem::path& cache) {
  LineChart chart{.title = "Thresholds on " + cache.filename().string(),
                  .x_name = "bits that may differ",
                  .lines = {}};
  int colour = 0;
  for (const Tuned& tuned : all) {
    LineChart::Line precision{tuned.curve.hash + ": expected precision", {}, false, colour};
    LineChart::Line recall{tuned.curve.hash + ": expected recall", {}, true, colour};
    for (const CurvePoint& p : tuned.curve.points) {
      precision.shares.push_back(p.precision);
      recall.shares.push_back(tuned.recall(p));
    }
    chart.lines.push_back(std::move(precision));
    if (!tuned.edits.empty()) chart.lines.push_back(std::move(recall));
    ++colour;
  }
  return chart;
}

// Of the hashes of all pixels: edited pictures are there in full only.
void add_recall(const TuneOptions& o, const Session& session, const pipeline::Cache& cache,
                std::vector<Tuned>& all) {
  if (o.images == 0 || cache.manifest().shards.empty()) return;
  std::vector<const dedup::Hash*> hashes;
  std::vector<Tuned*> of_hash;
  for (Tuned& tuned : all) {
    const dedup::ScaledHash hash = dedup::find_scaled_hash(tuned.curve.hash);
    if (hash.scale != 1) continue;
    hashes.push_back(hash.hash);
    of_hash.push_back(&tuned);
  }
  const ProgressSink bar = make_progress_bar("edit and hash", "images", true);
  auto recalls = pipeline::measure_recall(
      cache, hashes,
      {.images = o.images, .seed = o.seed, .threads = thread_plan(session, o.threads).decode}, bar);
  for (std::size_t i = 0; i < hashes.size(); ++i) of_hash[i]->edits = std::move(recalls[i]);
}

void tune(const TuneOptions& o, const Session& session) {
  const pipeline::Cache cache = pipeline::Cache::open(o.cache);
  std::vector<Tuned> all;
  const dedup::ColumnSource columns = cache.open_fingerprints();
  const std::vector<std::string> hashes =
      o.hashes.empty() ? pipeline::options_of(cache.manifest()).hashes : o.hashes;
  for (const std::string& hash : hashes) {
    all.push_back(
        {dedup::measure_curve(columns, {.hash = hash, .most = o.most, .seed = o.seed}), {}});
  }
  add_recall(o, session, cache, all);
  if (!o.plot.empty()) {
    DurableFile file(o.plot);
    const std::string svg = svg_of(chart_of(all, o.cache));
    file.append(as_bytes(svg));
    file.finish();
  }
  if (o.json) {
    nlohmann::ordered_json json{{"schema", "winnow.tune/1"},
                                {"hashes", nlohmann::ordered_json::array()}};
    for (const Tuned& tuned : all) json["hashes"].push_back(json_of(tuned, o.precision));
    fmt::print("{}\n", json.dump());
  } else {
    for (const Tuned& tuned : all) {
      if (&tuned != &all.front()) fmt::print("\n");
      print_table(tuned);
      print_edits(tuned);
    }
  }
  if (!o.precision) return;
  for (const Tuned& tuned : all) {
    const auto threshold = threshold_for(tuned.curve, *o.precision);
    say(session, threshold ? fmt::format("{}: {} bits for a precision of {:.1f} %",
                                         tuned.curve.hash, *threshold, 100 * *o.precision)
                           : fmt::format("{}: no threshold has a precision of {:.1f} %",
                                         tuned.curve.hash, 100 * *o.precision));
  }
}

}  // namespace

Command add_tune(CLI::App& program) {
  auto o = std::make_shared<TuneOptions>();
  CLI::App* app = program.add_subcommand(
      "tune", "Say what each threshold of deduplication would come to on a cache's own images");
  app->add_option("cache", o->cache, "Cache made by winnow ingest")->required();
  app->add_option("--hash", o->hashes, "Hashes to look at; all that the cache has by default")
      ->delimiter(',');
  app->add_option("--most", o->most, "Largest threshold, in bits; 3/16 of the code by default")
      ->check(CLI::NonNegativeNumber);
  app->add_option("--precision", o->precision,
                  "Name the largest threshold whose expected precision is at least this")
      ->check(CLI::Range(0.0, 1.0));
  app->add_option("--images", o->images,
                  "Pictures that are edited and hashed to see what is found again; 0: none")
      ->capture_default_str();
  app->add_option("--seed", o->seed, "Of what is drawn at random")->capture_default_str();
  app->add_option("--plot", o->plot, "Write precision and recall as a picture, SVG, here");
  app->add_option("--threads", o->threads, "Cores to use; 0: all this process may")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app->add_flag("--json", o->json, "Print one JSON object on stdout instead of tables");
  app->footer(
      "Precision is what share of the pairs within a threshold are duplicates. Two images that\n"
      "are not have other labels as often as two drawn at random; where there are no labels, the\n"
      "distances of random pairs tell, and promise a little too much. Recall is how many of your\n"
      "own pictures are found again after they were cropped by up to 10 %, scaled, given another\n"
      "gamma and encoded as JPEG, all at once; yours may be edited otherwise, so look at the\n"
      "edits that matter to you.\n\n"
      "Examples:\n"
      "  winnow tune cache\n"
      "  winnow tune cache --hash phash --precision 0.95 --plot phash.svg\n"
      "  winnow tune cache --json | jq '.hashes[0].thresholds[6]'");
  return {app, false, [o](Session& session) { tune(*o, session); }};
}

}  // namespace winnow::tools
