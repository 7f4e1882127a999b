#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/file.h"
#include "common/json_reader.h"
#include "common/utf8.h"
#include "dedup/pairs.h"
#include "dedup/review/review_log.h"
#include "dedup/review/sample.h"
#include "pipeline/store/cache.h"
#include "pipeline/store/choice.h"
#include "tools/command.h"
#include "tools/dedup_search.h"
#include "tools/report/gallery_page.h"
#include "tools/review/group_list.h"
#include "tools/review/local_server.h"
#include "tools/review/pictures.h"
#include "tools/review/review_site.h"
#include "tools/review/source_pictures.h"

namespace winnow::tools {
namespace {

struct ReviewOptions {
  std::filesystem::path cache;
  std::string name = "default";
  std::filesystem::path review;  // empty: reviews/NAME.jsonl in the cache
  std::vector<std::filesystem::path> sources;
  int port = 0;
  std::uint64_t sample = 0;  // pairs; 0: all groups
  std::uint64_t seed = 0;
  bool json = false;
};

constexpr std::size_t kPictureBytes = std::size_t{128} << 20;
// Above so many images in groups, the page does not wait until the folders of all are known.
constexpr std::size_t kMostNamed = 100'000;

// How a selection was made.
dedup::Options options_of(const dedup::Selection& selection) {
  const JsonReader settings(selection.settings, {.name = "selection '" + selection.name + "'",
                                                 .remedy = "deduplicate again"});
  dedup::Options options;
  options.hash = settings.at("hash").text();
  options.threshold = settings.at("threshold").number<int>();
  if (const auto scope = settings.find("scope")) options.scope = dedup::parse_scope(scope->text());
  return options;
}

std::filesystem::path review_path(const ReviewOptions& o, const pipeline::CachePaths& paths) {
  if (!o.review.empty()) return o.review;
  if (!can_keep_selections(paths)) {
    throw UsageError(o.cache.string() +
                     " cannot be written to; say where judgements are to be kept, as in --review "
                     "near.jsonl");
  }
  make_directories(paths.root / "reviews");
  return paths.root / "reviews" / (o.name + ".jsonl");
}

// What is looked at: a selection of a cache, and what of its table is shown.
struct Subject {
  const pipeline::Cache& cache;
  dedup::Options options;
  dedup::Fingerprints table;
  dedup::Result result;
};

Subject read_subject(const ReviewOptions& o, const pipeline::Cache& cache,
                     const dedup::ColumnSource& columns) {
  dedup::Selection selection = cache.read_selection(o.name);
  const dedup::Options options = options_of(selection);
  dedup::Fingerprints table = columns({"labels", "widths_px", "heights_px", "file_hashes"});
  pipeline::check_is_of(selection, table);
  const bool by_codes = options.hash != dedup::kExact;
  const dedup::Fingerprints codes =
      by_codes ? columns({"codes:" + options.hash}) : dedup::Fingerprints();
  dedup::Result result =
      groups_of(std::move(selection), table, by_codes ? codes.find_codes(options.hash) : nullptr,
                dedup::effective_threshold(options));
  return {cache, options, std::move(table), std::move(result)};
}

dedup::PairSample draw(const ReviewOptions& o, const Session& session, const Subject& subject,
                       const dedup::ColumnSource& columns) {
  const dedup::Options& options = subject.options;
  dedup::PairSample sample;
  with_search(session, /*all_links=*/true, [&](const dedup::LinkSource& links) {
    sample = dedup::draw_pairs(
        subject.table,
        [&](const auto& take) { dedup::for_each_pair(columns, options, links, take); },
        {.hash = options.hash,
         .threshold = dedup::effective_threshold(options),
         .scope = std::string(dedup::scope_name(options.scope)),
         .count = o.sample,
         .seed = o.seed});
  });
  return sample;
}

std::string page_of(const ReviewOptions& o, const Subject& subject, const GroupList& list) {
  GalleryPage page;
  page.title = name_of_folder(o.cache);
  page.made = made_here();
  page.config.server = true;
  page.frame.verb = "winnow review";
  page.summary = count(subject.result, list.facts());
  std::size_t images = 0;
  std::vector<bool> splits(kSplitCount, false);
  std::vector<bool> classes(subject.cache.manifest().classes.size(), false);
  for (const GroupFacts& facts : list.facts()) {
    page.config.most_distance = std::max(page.config.most_distance, facts.distance);
    images += facts.size;
    for (int i = 0; i < kSplitCount; ++i) {
      if (facts.has(static_cast<Split>(i))) splits[static_cast<std::size_t>(i)] = true;
    }
    for (const std::uint32_t row : subject.result.groups[facts.number].rows) {
      for (const std::int32_t label : subject.table.labels[row]) {
        classes.at(static_cast<std::size_t>(label)) = true;
      }
    }
  }
  for (std::size_t i = 0; i < splits.size(); ++i) {
    if (splits[i]) page.config.splits.emplace_back(split_name(static_cast<Split>(i)));
  }
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (classes[i]) page.config.classes.push_back(subject.cache.manifest().classes[i]);
  }
  if (images <= kMostNamed) page.config.folders = list.folders();
  return html_of(page);
}

void tell_end(const ReviewOptions& o, const dedup::ReviewLog& log, const ReviewSite& site,
              std::size_t groups) {
  if (o.json) {
    const nlohmann::ordered_json json{{"schema", "winnow.review_session/1"},
                                      {"selection", o.name},
                                      {"groups", groups},
                                      {"saved", site.saved()},
                                      {"left", site.left()},
                                      {"review", to_utf8(log.path().string())}};
    fmt::print("{}\n", json.dump());
    std::fflush(stdout);
  }
  const auto plural = [](std::uint64_t count) { return count == 1 ? "" : "s"; };
  throw StoppedError(fmt::format("review ended; {} judgement{} saved in {}, {} group{} left",
                                 grouped(site.saved()), plural(site.saved()), log.path().string(),
                                 grouped(site.left()), plural(site.left())));
}

// Draws a sample, unless the review has this one, and shows its pairs.
void show_sample(const ReviewOptions& o, const Session& session, Subject& subject,
                 const dedup::ColumnSource& columns, dedup::ReviewLog& log) {
  const dedup::PairSample sample = draw(o, session, subject, columns);
  if (log.review().sample != sample) log.append(sample);
  show_pairs(sample, subject.table, subject.result);
  std::uint64_t pairs = sample.certain;
  for (const auto& stratum : sample.strata) pairs += stratum.pairs;
  say(session, fmt::format("{} pairs to judge, drawn from {} within {} bits in {} strata; {} more "
                           "are of equal files",
                           grouped(subject.result.groups.size()), grouped(pairs - sample.certain),
                           sample.threshold, sample.strata.size(), grouped(sample.certain)));
}

void serve(const ReviewOptions& o, const Session& session, const Subject& subject,
           dedup::ReviewLog& log) {
  const pipeline::LedgerNames names = subject.cache.read_names();
  const GroupList list({.result = subject.result,
                        .table = subject.table,
                        .threshold = dedup::effective_threshold(subject.options),
                        .classes = subject.cache.manifest().classes,
                        .name_of = std::cref(names)},
                       o.sample > 0);
  const SourcePictures sources(subject.cache, names, o.sources);
  Pictures pictures(sources.pictures(), thread_plan(session, 0).decode, kPictureBytes);
  ReviewSite site({list, pictures, log, without_inline(page_of(o, subject, list))});
  LocalServer server({.port = o.port},
                     [&](const WebRequest& request) { return site.answer(request); });
  say(session, fmt::format("{} groups, {} of them to be judged; judgements go into {}",
                           grouped(list.size()), grouped(site.left()), log.path().string()));
  say(session, fmt::format("winnow dedup, index dedup, split and tune obey them with --review {}",
                           log.path().string()));
  say(session, "Open this address in a browser on this machine; Ctrl-C ends the review:");
  say(session, server.address());
  server.serve(session.stop);
  tell_end(o, log, site, list.size());
}

void review(const ReviewOptions& o, Session& session) {
  pipeline::check_selection_name(o.name);
  const pipeline::Cache cache = pipeline::Cache::open(o.cache);
  const dedup::ColumnSource columns = stoppable(cache.open_fingerprints(), session);
  Subject subject = read_subject(o, cache, columns);
  dedup::ReviewLog log(review_path(o, cache.paths()));
  if (log.review().cut_off) {
    say(session, log.path().string() + ": the last line had been cut off, and was removed");
  }
  if (o.sample > 0) show_sample(o, session, subject, columns, log);
  serve(o, session, subject, log);
}

}  // namespace

Command add_review(CLI::App& program) {
  auto o = std::make_shared<ReviewOptions>();
  CLI::App* app = program.add_subcommand(
      "review", "Look at groups of duplicates in a browser and judge them; later runs obey");
  app->add_option("cache", o->cache, "Cache with a selection, as winnow dedup writes them")
      ->required();
  app->add_option("--name", o->name, "Selection whose groups are shown")->capture_default_str();
  app->add_option("--review", o->review,
                  "File that judgements are added to (default: reviews/NAME.jsonl in the cache)");
  app->add_option("--port", o->port, "Port of 127.0.0.1 to listen on; 0: any that is free")
      ->check(CLI::Range(0, 65'535))
      ->capture_default_str();
  app->add_option("--sample", o->sample,
                  "Instead of groups, show so many pairs, drawn so that judging them says most "
                  "about the precision of the selection (winnow tune --review)")
      ->check(CLI::PositiveNumber);
  app->add_option("--seed", o->seed, "Another seed draws other pairs")->capture_default_str();
  app->add_option("--source", o->sources,
                  "Where the data sets are that the cache was made of, in their order: for a "
                  "cache of --store none, which has no pictures");
  app->add_flag("--json", o->json, "Print one JSON object on stdout at the end");
  app->footer(
      "The page is for a browser on this machine, and for whoever has the whole address: its\n"
      "second part is a secret that is new each time. Each judgement is on the disk before the\n"
      "page says that it is saved, so nothing is lost whatever ends the program; started again,\n"
      "it shows what was judged. Images are remembered by their content, so a review holds for\n"
      "other caches of the same files too. Ctrl-C ends it, with exit code 75.\n\n"
      "Examples:\n"
      "  winnow dedup cache --name near\n"
      "  winnow review cache --name near\n"
      "  winnow review cache --name near --sample 300   # how many of the pairs are duplicates?\n"
      "  winnow review cache --name near --review near.jsonl --port 8080\n"
      "  ssh -L 8080:127.0.0.1:8080 server              # then open the address here");
  return {app, false, [o](Session& session) { review(*o, session); }, true};
}

}  // namespace winnow::tools
