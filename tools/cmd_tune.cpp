#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/file.h"
#include "dedup/hash/hashes.h"
#include "dedup/tune/choice.h"
#include "dedup/tune/curve.h"
#include "pipeline/export/thumbnails.h"
#include "pipeline/recall/recall.h"
#include "pipeline/store/cache.h"
#include "tools/choice_flags.h"
#include "tools/command.h"
#include "tools/compared.h"
#include "tools/dedup_flags.h"
#include "tools/dedup_search.h"
#include "tools/flags/flags.h"
#include "tools/gallery_report.h"
#include "tools/numbers.h"
#include "tools/obeyed.h"
#include "tools/progress_bar.h"
#include "tools/report/lines.h"
#include "tools/tune_page.h"
#include "tools/tune_report.h"

namespace winnow::tools {
namespace {

struct TuneOutput {
  std::filesystem::path plot;
  std::filesystem::path report;
  bool json = false;
};

struct TuneOptions {
  std::filesystem::path cache;
  std::vector<std::string> hashes;
  int most = -1;
  ChoiceFlags demand;
  pipeline::RecallOptions recall;
  std::vector<std::filesystem::path> reviews;
  TuneOutput output;
};

// Of the hashes of all pixels: edited pictures are there in full only.
void add_recall(const TuneOptions& o, const Session& session, const pipeline::Cache& cache,
                std::vector<Tuned>& all) {
  if (o.recall.images == 0 || cache.manifest().shards.empty()) return;
  std::vector<dedup::HashKind> hashes;
  std::vector<Tuned*> of_hash;
  for (Tuned& tuned : all) {
    const dedup::HashKind hash = dedup::find_hash(tuned.curve.hash);
    if (hash.scale != 1) continue;
    hashes.push_back(hash);
    of_hash.push_back(&tuned);
  }
  const ProgressSink bar = make_progress_bar("edit and hash", "images", true);
  const ProgressSink watched = [&](const Progress& progress) {
    if (session.stop && session.stop())
      throw StoppedError("stopped before all pictures were edited");
    bar(progress);
  };
  pipeline::RecallOptions options = o.recall;
  options.threads = thread_plan(session, o.recall.threads).decode;
  auto recalls = pipeline::measure_recall(cache, hashes, options, watched);
  for (std::size_t i = 0; i < hashes.size(); ++i) of_hash[i]->edits = std::move(recalls[i]);
}

// What comes of what is recommended: of hashes that were named by the best of these, else by what
// dedup does with these flags.
void take(const TuneOptions& o, const Session& session, const pipeline::Cache& cache,
          dedup::ColumnSource columns, Measured& measured) {
  DedupFlags flags;
  flags.choice = o.demand;
  if (!o.hashes.empty() || flags.choice.precision) {
    if (!measured.best) return;
    flags.choice = {};
    flags.choice.hash = measured.best->hash;
    flags.choice.threshold = measured.best->threshold;
    flags.choice.least_quality = o.demand.least_quality;
  }
  dedup::Options options = dedup_options(flags);
  with_shared_work(session, /*all_links=*/true, [&](const dedup::SharedWork& work) {
    const dedup::ToldLinks links =
        settle_links(session, flags.choice, {}, images_of(cache, pipeline::pictures_of(cache)),
                     work, columns, options);
    const dedup::Result result = dedup::deduplicate(columns, options, links.source);
    measured.taken = Taken{options, result.removed + result.kept, result.removed, links.verified};
  });
}

Measured measure(const TuneOptions& o, const Session& session, const pipeline::Cache& cache) {
  std::vector<Tuned> all;
  const dedup::ColumnSource columns = stoppable(cache.open_fingerprints(), session);
  const std::vector<dedup::Review> reviews = read_reviews(session, o.reviews);
  const std::vector<std::string> hashes = o.hashes.empty() ? stored_hashes(cache) : o.hashes;
  const dedup::ShownPairs shown =
      shown_by(session, images_of(cache, pipeline::pictures_of(cache)), columns);
  for (const std::string& hash : hashes) {
    const dedup::CurveOptions options{.hash = hash,
                                      .most = o.most,
                                      .seed = o.recall.seed,
                                      .search = search_options(session),
                                      .shown = shown,
                                      .least_quality = o.demand.least_quality};
    all.push_back({dedup::measure_curve(columns, options), {}});
    all.back().judged = dedup::judge_curve(all.back().curve, columns, reviews);
  }
  add_recall(o, session, cache, all);
  const auto worth = o.hashes.empty() ? dedup::worth_comparing(hashes, columns({}).size()) : hashes;
  std::vector<dedup::Curve> curves;
  for (const Tuned& tuned : all) {
    if (std::ranges::find(worth, tuned.curve.hash) != worth.end()) curves.push_back(tuned.curve);
  }
  Measured measured{std::move(all), dedup::choose(curves, demand_of(o.demand))};
  take(o, session, cache, columns, measured);
  return measured;
}

void write_plot(const std::filesystem::path& to, const std::vector<Tuned>& all,
                const std::filesystem::path& cache) {
  DurableFile file(to);
  const std::string svg = svg_of(chart_of(all, name_of_folder(cache)));
  file.append(as_bytes(svg));
  file.finish();
}

void print_json(const TuneOptions& o, const Measured& measured) {
  nlohmann::ordered_json json{{"schema", "winnow.tune/1"},
                              {"hashes", nlohmann::ordered_json::array()}};
  const dedup::Demand demand = demand_of(o.demand);
  for (const Tuned& tuned : measured.all) json["hashes"].push_back(json_of(tuned, demand));
  if (measured.taken && measured.taken->verified) {
    json["pictures"] = json_of_pictures(*measured.taken);
  }
  if (measured.taken) json["recommended"] = json_of(measured);
  fmt::print("{}\n", json.dump());
}

void print_tables(const TuneOptions& o, const Measured& measured) {
  const dedup::Demand demand = demand_of(o.demand);
  const double precision = demand.precision.value_or(kUsualPrecision);
  for (const Tuned& tuned : measured.all) {
    fmt::print("{}\n", curve_table(tuned));
    const std::string judged = judged_table(tuned, precision);
    if (!judged.empty()) fmt::print("{}\n", judged);
  }
  const std::string edits = edit_tables(measured.all, demand);
  if (!edits.empty()) fmt::print("{}\n", edits);
  const std::string pictures = pictures_table(measured);
  if (!pictures.empty()) fmt::print("{}\n", pictures);
  fmt::print("{}\n", recommendation_in_words(measured, o.demand, o.cache.string()));
}

void tune(const TuneOptions& o, const Session& session) {
  check_choice(o.demand);
  check_report_path(o.output.report);
  if (!o.output.report.empty() &&
      o.output.plot.lexically_normal() == o.output.report.lexically_normal()) {
    throw UsageError("the plot and the report would both go into " + o.output.plot.string() +
                     "; name another file for one");
  }
  const pipeline::Cache cache = pipeline::Cache::open(o.cache);
  say_alpha_ignored(session, cache);
  const Measured measured = measure(o, session, cache);
  if (!o.output.plot.empty()) write_plot(o.output.plot, measured.all, o.cache);
  if (!o.output.report.empty()) {
    write_tune_page(session, cache, stoppable(cache.open_fingerprints(), session), measured,
                    o.demand, o.output.report);
  }
  if (o.output.json) {
    print_json(o, measured);
  } else {
    print_tables(o, measured);
  }
  const std::optional<double> precision = o.demand.precision;
  if (!precision) return;
  for (const Tuned& tuned : measured.all) {
    const auto choice = choose_threshold(tuned.curve, *precision);
    say(session, choice ? fmt::format("{}: {} bits for a precision of {:.1f} %", tuned.curve.hash,
                                      choice->threshold, 100 * *precision)
                        : fmt::format("{}: no threshold has a precision of {:.1f} %",
                                      tuned.curve.hash, 100 * *precision));
  }
}

}  // namespace

Command add_tune(Verb program) {
  auto o = std::make_shared<TuneOptions>();
  const Verb verb = program.add_verb(
      "tune", "Say what each threshold of deduplication would come to on a cache's own images");
  verb.add_option("cache", o->cache, "Cache made by winnow ingest").required();
  verb.add_option("--hash", o->hashes, "Hashes to look at; all that the cache has by default")
      .delimiter(',');
  verb.add_option(
          "--most", o->most,
          "Largest threshold, in bits. By default as far as chance links fewer pairs than there "
          "are images")
      .check(whole_in(0, kMostBits));
  add_demand_flags(verb, "--", o->demand);
  add_quality_flag(verb, "--", o->demand);
  add_verify_flags(verb, "--", o->demand);
  verb.add_option("--images", o->recall.images,
                  "Pictures that are edited and hashed to see what is found again; 0: none")
      .check(whole_in(0, kMostCount))
      .show_default();
  verb.add_option("--seed", o->recall.seed, "Of what is drawn at random")
      .check(seeds())
      .show_default();
  verb.add_option("--review", o->reviews,
                  "Say how precise thresholds are by the pairs that people judged in this file of "
                  "winnow review; repeatable")
      .repeatable();
  verb.add_option("--plot", o->output.plot, "Write precision and recall as a picture, SVG, here");
  verb.add_option("--report", o->output.report,
                  "Write a page: the curves, and pairs around the threshold to look at and to "
                  "judge, in one HTML file that needs nothing else");
  verb.add_option("--threads", o->recall.threads, "Cores to use; 0: all this process may")
      .check(cores())
      .show_default();
  verb.add_flag("--json", o->output.json, "Print one JSON object on stdout instead of tables");
  verb.footer(
      "What is recommended is what dedup, export, ingest --drop, split and the others do without\n"
      "flags: they compare the pictures, which finds what is near by codes, and more. Of more than "
      "100,000 images, of pictures with few details and with --no-verify\n"
      "codes decide: the largest threshold with fewer than 0.5 expected false pairs among so many\n"
      "images, of the hash that finds most within it; --risk and --precision ask for other.\n"
      "Precision is what share of the pairs within a threshold are duplicates. Two images that\n"
      "are not have other labels as often as two drawn at random; where there are no labels, the\n"
      "distances of random pairs tell. Both promise too much where strangers that look alike are\n"
      "of one kind: judge a sample where it counts (winnow review --sample 200). Recall is how\n"
      "many of your own pictures are found again after they were cropped by up to 10 %, scaled,\n"
      "given another gamma and encoded as JPEG, all at once; yours may be edited otherwise, so\n"
      "look at the edits that matter to you.\n"
      "By judged pairs, precision lies between 'at least' and 'at most' with 95 % confidence if "
      "the\n"
      "pairs were drawn, as winnow review --sample draws them. 'found' is how many of the\n"
      "duplicates within the last threshold each threshold finds.\n\n"
      "Examples:\n"
      "  winnow tune cache\n"
      "  winnow tune cache --hash phash --precision 0.95 --plot phash.svg\n"
      "  winnow tune cache --report thresholds.html   # to look at pairs near the threshold\n"
      "  winnow tune cache --review said.jsonl\n"
      "  winnow tune cache --json | jq '.hashes[0].thresholds[6]'");
  return {verb, false, [o](Session& session) { tune(*o, session); }, true};
}

}  // namespace winnow::tools
