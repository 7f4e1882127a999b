#include "app/suspects/suspects.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "app/dedup/gallery.h"
#include "app/dedup/lists.h"
#include "app/dedup/review_constraints.h"
#include "app/dedup/search.h"
#include "app/page/html.h"
#include "app/page/page.h"
#include "app/words.h"
#include "common/error.h"
#include "common/json.h"
#include "dedup/review/decided.h"
#include "dedup/review/review_log.h"
#include "dedup/table/selection.h"
#include "pipeline/export/thumbnails.h"
#include "pipeline/load/dataset.h"
#include "pipeline/store/cache.h"
#include "pipeline/store/features.h"
#include "train/model/class_names.h"
#include "train/run/evaluations/out_of_fold.h"

namespace winnow::app {
namespace {

namespace fs = std::filesystem;

void check_options(const SuspectsRequest& o) {
  if (o.sources.run.empty() && o.sources.features.empty()) {
    throw UsageError(
        "give --run RUN, from winnow train CACHE --folds 4 --out RUN, or --features NAME, from "
        "winnow embed");
  }
  if (o.output.json && o.output.list == kStandardOutput) {
    throw UsageError(
        "--json and --list - both go to the standard output; name a file for the list");
  }
  check_report_path(o.output.report);
}

// Whether labels can be judged: some exist, and no image has several. Says why not.
bool has_single_labels(const Session& session, const pipeline::Cache& cache,
                       const dedup::Fingerprints& table) {
  const std::string root = cache.paths().root.string();
  if (cache.manifest().classes.empty()) {
    say(session, root + " has no labels, so only outliers are searched");
    return false;
  }
  for (std::size_t row = 0; row < table.size(); ++row) {
    if (table.labels[row].size() < 2) continue;
    say(session, "images of " + root +
                     " have several labels, and label errors are only found for images with one; "
                     "only outliers are searched");
    return false;
  }
  return true;
}

// Throws UsageError unless the predictions are for the cache's images and labels. Classes may be in
// another order.
void check_cache(const train::OutOfFold& predicted, const std::vector<std::string>& classes,
                 const pipeline::Cache& cache, const SuspectsRequest& o) {
  const train::OutOfFold::About& about = predicted.about;
  if (about.cache_digest == cache.digest()) return;
  const std::string run = o.sources.run.string();
  const std::string other =
      train::first_other_class(predicted.classes, run, classes, o.cache.string());
  if (!other.empty()) {
    throw UsageError("the run was trained for other classes, as " + other +
                     "; name the cache that it was trained on, or train again on this one");
  }
  if (!about.digest_by_names.empty() && about.digest_by_names == pipeline::digest_by_names(cache))
    return;
  throw UsageError(run + " was trained on another cache than " + o.cache.string() +
                   "; name that one, or train again on this one");
}

// A second check besides the cache's digest: a file may have been edited.
void check_fits(const train::OutOfFold& predicted, const std::vector<std::string>& classes,
                const pipeline::Cache& cache, const dedup::Fingerprints& table,
                const fs::path& run) {
  const std::string root = cache.paths().root.string();
  const auto require = [&](bool good, const char* file, const std::string& why) {
    if (good) return;
    throw FormatError((run / file).string() + " " + why + root +
                      "; train again: winnow train CACHE --folds K --out RUN");
  };
  require(std::ranges::is_permutation(classes, predicted.classes), "out-of-fold.json",
          "names other classes than ");
  require(std::ranges::includes(table.ids, predicted.ids), "out-of-fold.csv",
          "has images that are not in ");
}

Suspects by_run(const SuspectsRequest& o, const pipeline::Cache& cache,
                const dedup::Fingerprints& table) {
  train::OutOfFold predicted = train::read_out_of_fold(o.sources.run);
  const std::vector<std::string> classes = train::class_names(cache.manifest().classes);
  check_cache(predicted, classes, cache, o);
  check_fits(predicted, classes, cache, table, o.sources.run);
  order_classes(predicted, classes);
  return suspects_of(predicted, table, o.how);
}

Suspects by_features(const SuspectsRequest& o, const Session& session, const pipeline::Cache& cache,
                     const dedup::Fingerprints& table) {
  const dedup::FeatureTable features = pipeline::read_features(cache, o.sources.features);
  const std::size_t classes =
      has_single_labels(session, cache, table) ? cache.manifest().classes.size() : 0;
  const dedup::NeighbourOptions search{.progress = progress_bar(session, "neighbours", "images"),
                                       .stop = session.stop};
  return suspects_of(features, table, classes, o.how, search);
}

// Leaves out images that a review keeps or drops: they need no look.
void leave_out_judged(const dedup::Decided& decided, std::vector<Suspect>& list) {
  std::erase_if(list, [&](const Suspect& suspect) {
    return std::ranges::binary_search(decided.spared, suspect.row) ||
           std::ranges::binary_search(decided.dropped, suspect.row);
  });
}

// One picture per image, with all its issues; worst of each issue first.
std::vector<dedup::IssuePicture> pictures_of(const std::vector<Suspect>& list) {
  std::map<std::uint32_t, std::size_t> place_of;
  std::vector<dedup::IssuePicture> pictures;
  for (const Suspect& suspect : list) {
    const auto [at, is_new] = place_of.try_emplace(suspect.row, pictures.size());
    if (is_new) pictures.push_back({.rows = {suspect.row}, .scores = {}});
    pictures[at->second].scores.push_back({suspect.issue, suspect.score});
  }
  for (dedup::IssuePicture& picture : pictures) {
    std::ranges::sort(picture.scores, {}, &dedup::IssuePicture::Score::issue);
  }
  return pictures;
}

std::vector<std::pair<const dedup::IssueRow*, std::uint64_t>> counts_of(
    const std::vector<Suspect>& list) {
  std::vector<std::pair<const dedup::IssueRow*, std::uint64_t>> counts;
  for (const dedup::IssueRow& row : dedup::shown_issue_rows().subspan(dedup::kIssueCount)) {
    counts.emplace_back(&row, std::ranges::count(list, row.issue, &Suspect::issue));
  }
  return counts;
}

// The result, and what its forms of output need.
struct Found {
  const SuspectsRequest& asked;
  const Session& session;
  const pipeline::Cache& cache;
  const dedup::ColumnSource& columns;
  const SuspectWords& words;
  const std::vector<Suspect>& list;
  std::optional<double> label_noise;
};

void show(const Found& found) {
  if (found.asked.output.report.empty()) return;
  std::vector<Suspect> shown = found.list;
  keep_first(GalleryLimits{}.groups / 3, shown);
  const std::vector<dedup::IssuePicture> pictures = pictures_of(shown);
  std::map<std::uint32_t, std::string> remarks;
  for (const Suspect& suspect : shown) {
    if (suspect.likely >= 0) remarks[suspect.row] = "probably " + found.words.likely(suspect);
  }
  const dedup::Fingerprints table =
      found.columns({"labels", "widths_px", "heights_px", "file_hashes"});
  dedup::Result nothing_removed;
  nothing_removed.selection = dedup::keep_all(table.ids);
  std::string tiles = tile(grouped(table.size()), "images");
  for (const auto& [row, count] : counts_of(found.list)) {
    if (count > 0) tiles += tile(grouped(count), escaped(row->name));
  }
  write_gallery(found.session,
                {.result = nothing_removed,
                 .table = table,
                 .classes = found.words.classes,
                 .name_of = found.words.name_of,
                 .pictures = pictures,
                 .remark_of =
                     [&](std::uint32_t row) {
                       const auto remark = remarks.find(row);
                       return remark == remarks.end() ? std::string() : remark->second;
                     }},
                {.title = title_of(found.cache.manifest()),
                 .made = made_here(),
                 .picture_of = pipeline::pictures_of(found.cache),
                 .no_pictures = kNoPicturesInCache,
                 .frame = {.verb = "winnow suspects",
                           .about = "suspects",
                           .verdict = fmt::format("{} out. None was removed.",
                                                  count_of(pictures_of(found.list).size(),
                                                           "image stands", "images stand")),
                           .tiles = tiles,
                           .listed = "All are in the list that was printed."},
                 .fates = {{"kept", ""}}},
                found.asked.output.report);
}

void list_found(const Found& found) {
  fs::path path = found.asked.output.list;
  if (path.empty() && found.asked.output.json) return;
  if (path.empty()) path = kStandardOutput;
  write_list(found.session, path, [&](dedup::ListForm form, const dedup::TextSink& out) {
    list_suspects(found.list, found.words, form, out);
  });
  if (path != kStandardOutput) say(found.session, fmt::format("listed in {}", path.string()));
}

// Writes a review that drops all listed images.
void write_drops(const Found& found) {
  const fs::path& path = found.asked.output.drops;
  if (path.empty()) return;
  const dedup::Fingerprints table = found.columns({"file_hashes"});
  std::vector<dedup::Judgement> judgements;
  for (const dedup::IssuePicture& picture : pictures_of(found.list)) {
    const std::uint32_t row = picture.rows.front();
    judgements.push_back({.verdict = dedup::Verdict::kDrop,
                          .images = {table.file_hashes[row]},
                          .names = {found.words.name_of(table.ids[row])},
                          .about = dedup::About::kImage});
  }
  dedup::ReviewLog(path).append(judgements);
  say(found.session,
      fmt::format("{} drops {}; look at it, then: winnow dedup {} --review {}", path.string(),
                  count_of(judgements.size(), "image"), found.asked.cache.string(), path.string()));
}

void print_json(const Found& found, std::uint64_t judged) {
  if (!found.asked.output.json) return;
  Json json{{"schema", "winnow.suspects/1"},
            {"images", found.words.table.size()},
            {"judged", judged},
            {"label_noise", found.label_noise},
            {"counts", Json::array()},
            {"suspects", Json::array()}};
  for (const auto& [row, count] : counts_of(found.list)) {
    json["counts"].push_back({{"issue", row->name}, {"images", count}});
  }
  list_suspects(found.list, found.words, dedup::ListForm::kJsonLines,
                [&](std::string_view line) { json["suspects"].push_back(Json::parse(line)); });
  print(found.session, fmt::format("{}\n", json.dump()));
}

void tell(const Found& found, std::uint64_t judged) {
  if (found.label_noise) {
    say(found.session, fmt::format("about {} of the labels of {} are estimated to be wrong",
                                   percent(*found.label_noise), count_of(judged, "image")));
  }
  std::string words;
  for (const auto& [row, count] : counts_of(found.list)) {
    if (count > 0)
      words += fmt::format("{}{} {}", words.empty() ? "" : ", ", grouped(count), row->name);
  }
  say(found.session, words.empty() ? "nothing stands out" : "listed: " + words);
}

}  // namespace

void run_suspects(SuspectsRequest o, Session& session) {
  check_options(o);
  o.how.prune = dedup::parse_prune(o.prune);
  o.how.order = dedup::parse_suspect_order(o.order);
  const pipeline::Cache cache = pipeline::Cache::open(o.cache);
  const dedup::ColumnSource columns = stoppable(cache.open_fingerprints(), session);
  const dedup::Fingerprints table = columns({"labels"});
  Suspects found;
  if (!o.sources.run.empty()) found = by_run(o, cache, table);
  if (!o.sources.features.empty()) {
    Suspects more = by_features(o, session, cache, table);
    found.list.insert(found.list.end(), more.list.begin(), more.list.end());
    if (o.sources.run.empty()) {
      found.judged = more.judged;
      found.label_noise = more.label_noise;
    }
  }
  if (const auto decided = decided_by(session, o.reviews, columns)) {
    leave_out_judged(*decided, found.list);
  }
  if (o.top > 0) keep_first(o.top, found.list);
  const pipeline::LedgerNames names = cache.read_names();
  const SuspectWords words{table, cache.manifest().classes, std::cref(names)};
  const Found all{o, session, cache, columns, words, found.list, found.label_noise};
  tell(all, found.judged);
  show(all);
  list_found(all);
  write_drops(all);
  print_json(all, found.judged);
}

}  // namespace winnow::app
