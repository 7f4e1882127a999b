#include "app/tune/tune.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "app/dedup/compared.h"
#include "app/dedup/decision.h"
#include "app/dedup/gallery.h"
#include "app/dedup/review_constraints.h"
#include "app/dedup/search.h"
#include "app/page/lines.h"
#include "app/tune/tune_page.h"
#include "app/words.h"
#include "common/error.h"
#include "common/file.h"
#include "common/json.h"
#include "dedup/hash/hashes.h"
#include "dedup/tune/choice.h"
#include "dedup/tune/curve.h"
#include "pipeline/export/thumbnails.h"
#include "pipeline/store/cache.h"

namespace winnow::app {
namespace {

// For hashes of all pixels only: edited pictures exist in full size only.
void add_recall(const TuneRequest& o, const Session& session, const pipeline::Cache& cache,
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
  const ProgressSink bar = progress_bar(session, "edit and hash", "images");
  const ProgressSink watched = [&](const Progress& progress) {
    if (is_asked_to_stop(session)) {
      throw StoppedError("stopped before recall was measured, on edited copies of the pictures");
    }
    bar(progress);
  };
  pipeline::RecallOptions options = o.recall;
  options.threads = thread_plan(session, o.recall.threads).decode;
  auto recalls = pipeline::measure_recall(cache, hashes, options, watched);
  for (std::size_t i = 0; i < hashes.size(); ++i) of_hash[i]->edits = std::move(recalls[i]);
}

// Runs the recommendation: the best of the hashes that were named, else what dedup does with these
// flags.
void take(const TuneRequest& o, const Session& session, const pipeline::Cache& cache,
          dedup::ColumnSource columns, Measured& measured) {
  DecisionOptions flags;
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
    const dedup::LinksWithEvidence links =
        settle_links(session, {flags.choice}, images_of(cache, pipeline::pictures_of(cache)), work,
                     columns, options);
    const dedup::Result result = dedup::deduplicate(columns, options, links.source);
    measured.taken = Taken{options, result.removed + result.kept, result.removed, links.verified};
  });
}

Measured measure(const TuneRequest& o, const Session& session, const pipeline::Cache& cache) {
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

void print_json(const Session& session, const TuneRequest& o, const Measured& measured) {
  Json json{{"schema", "winnow.tune/1"}, {"hashes", Json::array()}};
  const dedup::Demand demand = demand_of(o.demand);
  for (const Tuned& tuned : measured.all) json["hashes"].push_back(json_of(tuned, demand));
  if (measured.taken && measured.taken->verified) {
    json["pictures"] = json_of_pictures(*measured.taken);
  }
  if (measured.taken) json["recommended"] = json_of(measured);
  print(session, fmt::format("{}\n", json.dump()));
}

void print_tables(const Session& session, const TuneRequest& o, const Measured& measured) {
  const dedup::Demand demand = demand_of(o.demand);
  const double precision = demand.precision.value_or(kUsualPrecision);
  for (const Tuned& tuned : measured.all) {
    print(session, fmt::format("{}\n", curve_table(tuned)));
    const std::string judged = judged_table(tuned, precision);
    if (!judged.empty()) print(session, fmt::format("{}\n", judged));
  }
  const std::string edits = edit_tables(measured.all, demand);
  if (!edits.empty()) print(session, fmt::format("{}\n", edits));
  const std::string pictures = pictures_table(measured);
  if (!pictures.empty()) print(session, fmt::format("{}\n", pictures));
  print(session,
        fmt::format("{}\n", recommendation_in_words(measured, o.demand, o.cache.string())));
}

}  // namespace

void run_tune(const TuneRequest& o, const Session& session) {
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
    print_json(session, o, measured);
  } else {
    print_tables(session, o, measured);
  }
  const std::optional<double> precision = o.demand.precision;
  if (!precision) return;
  for (const Tuned& tuned : measured.all) {
    const auto choice = choose_threshold(tuned.curve, *precision);
    say(session, choice
                     ? fmt::format("{}: {} for a precision of {:.1f} %", tuned.curve.hash,
                                   count_of(static_cast<std::uint64_t>(choice->threshold), "bit"),
                                   100 * *precision)
                     : fmt::format("{}: no threshold has a precision of {:.1f} %", tuned.curve.hash,
                                   100 * *precision));
  }
}

}  // namespace winnow::app
