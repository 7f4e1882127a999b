#include "app/review/review.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>

#include "app/dedup/features.h"
#include "app/dedup/search.h"
#include "app/page/gallery_page.h"
#include "app/page/page.h"
#include "app/review/group_list.h"
#include "app/review/local_server.h"
#include "app/review/pictures.h"
#include "app/review/review_site.h"
#include "app/review/source_pictures.h"
#include "app/words.h"
#include "common/error.h"
#include "common/file.h"
#include "common/json.h"
#include "common/utf8.h"
#include "dedup/decisions/issues.h"
#include "dedup/features/feature_links.h"
#include "dedup/lists/groups_with_evidence.h"
#include "dedup/lists/pairs.h"
#include "dedup/review/sample.h"
#include "pipeline/store/cache.h"
#include "pipeline/store/choice.h"

namespace winnow::app {
namespace {

constexpr std::size_t kPictureBytes = std::size_t{128} << 20;
// Above this number of images in groups, the page does not wait for the folders of all images.
constexpr std::size_t kMostNamed = 100'000;

// The options that made a selection.
dedup::Options options_of(const dedup::Selection& selection) {
  const JsonReader settings(selection.settings, {.name = "selection '" + selection.name + "'",
                                                 .remedy = "deduplicate again"});
  dedup::Options options;
  options.hash = settings.at("hash").text();
  options.threshold = settings.at("threshold").number<int>();
  if (const auto scope = settings.find("scope")) options.scope = dedup::parse_scope(scope->text());
  if (const auto least = settings.find("least_quality")) {
    options.matching.least_quality = least->real(0, 100);
  }
  if (const auto features = settings.find("features")) options.matching.features = features->text();
  return options;
}

std::filesystem::path review_path(const ReviewRequest& o, const pipeline::CachePaths& paths) {
  if (!o.review.empty()) return o.review;
  if (!can_keep_selections(paths)) {
    throw UsageError(
        o.cache.string() +
        " cannot be written to; name a file for the judgements, such as --review near.jsonl");
  }
  make_directories(paths.root / "reviews");
  return paths.root / "reviews" / (o.name + ".jsonl");
}

// The subject of a review: a selection of a cache, and the shown columns of its table.
struct Subject {
  const pipeline::Cache& cache;
  dedup::Options options;
  dedup::Fingerprints table;
  dedup::Result result;
  bool compared = false;  // pictures were compared
  std::vector<dedup::VerifiedPair> told = {};
  std::vector<dedup::IssuePicture> pictures = {};
};

const dedup::ColumnNames kListColumns{"labels", "widths_px", "heights_px", "file_hashes"};

// The selection that decides on pictures with issues. The usual one may not exist yet: then all
// stay.
dedup::Selection decided_of(const ReviewRequest& o, const Session& session,
                            const pipeline::Cache& cache, const dedup::Fingerprints& table) {
  const std::filesystem::path file = cache.paths().selection(o.name);
  const bool is_usual = o.name == kUsualName;
  std::error_code ignored;
  if (is_usual && !std::filesystem::exists(file, ignored)) return dedup::keep_all(table.ids);
  try {
    dedup::Selection selection = cache.read_selection(o.name);
    pipeline::check_is_of(selection, table);
    return selection;
  } catch (const UsageError& error) {
    if (!is_usual) throw;
    say(session, std::string(error.what()) + "; all pictures are shown as kept");
    return dedup::keep_all(table.ids);
  }
}

// Shows pictures with issues instead of groups.
Subject read_pictures(const ReviewRequest& o, const Session& session, const pipeline::Cache& cache,
                      const dedup::ColumnSource& columns) {
  dedup::IssueSet wanted = dedup::parse_issues(*o.instead.issues);
  dedup::check_of_one_picture(
      wanted, "; winnow review without --issues shows duplicates, and those whose labels differ");
  for (const dedup::IssueRow& row : dedup::issue_rows()) {
    if (o.instead.issues->empty() && dedup::is_of_one_picture(row.issue)) wanted.add(row.issue);
  }
  const std::vector<dedup::IssueSet> of_row = dedup::find_issues(wanted, columns, "");
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < of_row.size(); ++row) {
    if (!of_row[row].empty()) rows.push_back(row);
  }
  Subject subject{.cache = cache, .options = {}, .table = columns(kListColumns), .result = {}};
  subject.result.selection = decided_of(o, session, cache, subject.table);
  subject.pictures = dedup::issue_pictures(std::move(rows), of_row, columns, "");
  return subject;
}

// The groups stored with a selection. Nullopt: they must be derived from codes; it says so if codes
// tell less.
std::optional<dedup::GroupsWithEvidence> kept_groups(const Session& session,
                                                     const pipeline::Cache& cache,
                                                     const dedup::Selection& selection) {
  std::string why = "its file of groups is missing";
  try {
    auto told = cache.read_groups(selection);
    if (told) return told;
  } catch (const FormatError& error) {
    why = error.what();
  }
  if (dedup::is_made_of_others(selection)) {
    say(session,
        fmt::format("the groups of selection '{}' are its connected components, without results of "
                    "comparing pictures, because it was made from other selections",
                    selection.name));
  }
  if (dedup::says_more_than_codes(selection)) {
    say(session,
        fmt::format("the groups of selection '{}' are derived from codes alone, without the "
                    "results of comparing pictures: {}; deduplicate again to see these results",
                    selection.name, why));
  }
  return std::nullopt;
}

Subject read_subject(const ReviewRequest& o, const Session& session, const pipeline::Cache& cache,
                     const dedup::ColumnSource& columns) {
  if (o.instead.issues) return read_pictures(o, session, cache, columns);
  dedup::Selection selection = cache.read_selection(o.name);
  const dedup::Options options = options_of(selection);
  dedup::Fingerprints table = columns(kListColumns);
  pipeline::check_is_of(selection, table);
  auto told = kept_groups(session, cache, selection);
  if (!told) {
    const bool by_codes = options.hash != dedup::kExact;
    dedup::ColumnSource compared = columns;
    by_features_of(options, session, cache, compared, {});
    const dedup::Fingerprints codes =
        by_codes ? compared({"codes:" + options.hash}) : dedup::Fingerprints();
    told = dedup::groups_by_codes(selection, table,
                                  by_codes ? codes.find_codes(options.hash) : nullptr,
                                  dedup::effective_threshold(options));
  }
  if (!told->splits.empty()) table.splits = std::move(told->splits);
  dedup::Result result = dedup::result_of(std::move(selection), table, std::move(told->groups));
  return {.cache = cache,
          .options = options,
          .table = std::move(table),
          .result = std::move(result),
          .compared = told->compared,
          .told = std::move(told->pairs)};
}

dedup::PairSample draw(const ReviewRequest& o, const Session& session, const Subject& subject,
                       const dedup::ColumnSource& columns) {
  const dedup::Options& options = subject.options;
  dedup::PairSample sample;
  with_search(session, /*all_links=*/true, [&](const dedup::LinkSource& search) {
    dedup::ColumnSource compared = columns;
    const auto links = by_features_of(options, session, subject.cache, compared, search);
    sample = dedup::draw_pairs(
        subject.table,
        [&](const auto& take) { dedup::for_each_pair(compared, options, links, take); },
        {.hash = options.hash,
         .threshold = dedup::effective_threshold(options),
         .scope = std::string(dedup::scope_name(options.scope)),
         .count = o.instead.sample,
         .seed = o.instead.seed,
         .least_quality = options.matching.least_quality});
  });
  return sample;
}

// The frame of the page of pictures with issues.
GalleryFrame issues_frame(const Subject& subject, const GallerySummary& found) {
  std::uint64_t with_issues = 0;
  for (const dedup::IssuePicture& picture : subject.pictures) with_issues += picture.rows.size();
  return {
      .verb = "winnow review",
      .about = "issues",
      .verdict = fmt::format("{} of {} {} an issue.", grouped(with_issues),
                             count_of(found.images, "image"), with_issues == 1 ? "has" : "have"),
      .tiles = tile(grouped(found.images), "images") + tile(grouped(with_issues), "with an issue") +
               tile(grouped(found.removed), "removed")};
}

std::string page_of(const ReviewRequest& o, const Subject& subject, const GalleryInput& input,
                    const GroupList& list) {
  GalleryPage page;
  page.title = name_of_folder(o.cache);
  page.made = made_here();
  page.config.server = true;
  page.config.compared = input.compared;
  page.frame.verb = "winnow review";
  page.summary = count(subject.result, list.facts());
  if (o.instead.issues) {
    page.frame = issues_frame(subject, page.summary);
    page.config.duplicates = false;
    page.config.pictures = true;
    if (subject.result.selection.settings.empty()) page.config.fates = {{"kept", ""}};
  }
  std::size_t images = 0;
  std::vector<bool> splits(kSplitCount, false);
  std::vector<bool> classes(subject.cache.manifest().classes.size(), false);
  for (const GroupFacts& facts : list.facts()) {
    page.config.most_distance = std::max(page.config.most_distance, facts.distance);
    page.config.issues.add(facts.issues);
    images += facts.size;
    for (int i = 0; i < kSplitCount; ++i) {
      if (facts.has(static_cast<Split>(i))) splits[static_cast<std::size_t>(i)] = true;
    }
    for (const std::uint32_t row : rows_of_group(input, facts.number)) {
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

const char* noun_of(const ReviewRequest& o) { return o.instead.issues ? "picture" : "group"; }

// `least`: the quality that the selection demanded of images, if given.
void tell_end(const Session& session, const ReviewRequest& o, dedup::LeastQuality least,
              const dedup::ReviewLog& log, const ReviewSite& site, std::size_t groups) {
  if (o.json) {
    Json json{{"schema", "winnow.review_session/1"},
              {"selection", o.name},
              {"groups", groups},
              {"saved", site.saved()},
              {"left", site.left()},
              {"review", to_utf8(log.path().string())}};
    if (least) json["least_quality"] = *least;
    print(session, fmt::format("{}\n", json.dump()));
    if (session.to.flush) session.to.flush();
  }
  throw StoppedError(fmt::format("review ended; {} saved in {}, {} left",
                                 count_of(site.saved(), "judgement"), log.path().string(),
                                 count_of(site.left(), noun_of(o))));
}

// Draws a sample, unless the review has it already, and shows its pairs.
void show_sample(const ReviewRequest& o, const Session& session, Subject& subject,
                 const dedup::ColumnSource& columns, dedup::ReviewLog& log) {
  const dedup::PairSample sample = draw(o, session, subject, columns);
  if (log.review().sample != sample) log.append(sample);
  show_pairs(sample, subject.table, subject.result);
  std::uint64_t pairs = sample.certain;
  for (const auto& stratum : sample.strata) pairs += stratum.pairs;
  const std::string near =
      subject.options.matching.features.empty()
          ? "within " + count_of(static_cast<std::uint64_t>(sample.threshold), "bit")
          : fmt::format("from a cosine of {}", dedup::cosine_of_distance(sample.threshold));
  say(session,
      fmt::format("{} to judge, drawn from {} pairs {} in {}; {} equal files",
                  count_of(subject.result.groups.size(), "pair"), grouped(pairs - sample.certain),
                  near, count_of(sample.strata.size(), "stratum", "strata"),
                  count_of(sample.certain, "more has", "more have")));
  if (subject.compared) {
    say(session,
        "these pairs have near codes; judge them to choose a threshold (winnow tune --review). "
        "Without --sample, winnow review shows the pairs that were linked by comparing pictures, "
        "in their groups");
  }
}

void serve(const ReviewRequest& o, const Session& session, const Subject& subject,
           dedup::ReviewLog& log) {
  const pipeline::LedgerNames names = subject.cache.read_names();
  const GalleryInput input{.result = subject.result,
                           .table = subject.table,
                           .threshold = dedup::effective_threshold(subject.options),
                           .classes = subject.cache.manifest().classes,
                           .name_of = std::cref(names),
                           .pictures = subject.pictures,
                           .compared = subject.compared,
                           .told = subject.told};
  const GroupList list(input, o.instead.sample > 0);
  const SourcePictures sources(subject.cache, names, o.sources);
  Pictures pictures(sources.pictures(), thread_plan(session, 0).decode, kPictureBytes);
  ReviewSite site({list, pictures, log, without_inline(page_of(o, subject, input, list)),
                   o.instead.issues ? dedup::About::kImage : dedup::About::kDuplicates});
  LocalServer server({.port = o.port},
                     [&](const WebRequest& request) { return site.answer(request); });
  say(session,
      fmt::format("{}, {} of them not judged yet; judgements go into {}",
                  count_of(list.size(), noun_of(o)), grouped(site.left()), log.path().string()));
  say(session, fmt::format("winnow dedup, index dedup, split and tune apply them with --review {}",
                           log.path().string()));
  say(session, "Open this address in a browser on this machine; Ctrl-C ends the review:");
  say(session, server.address());
  server.serve(session.stop);
  tell_end(session, o, subject.options.matching.least_quality, log, site, list.size());
}

}  // namespace

void run_review(const ReviewRequest& o, Session& session) {
  pipeline::check_selection_name(o.name);
  const pipeline::Cache cache = pipeline::Cache::open(o.cache);
  const dedup::ColumnSource columns = stoppable(cache.open_fingerprints(), session);
  Subject subject = read_subject(o, session, cache, columns);
  dedup::ReviewLog log(review_path(o, cache.paths()));
  if (log.review().cut_off) {
    say(session, log.path().string() + ": the last line was cut off and has been removed");
  }
  if (o.instead.sample > 0) show_sample(o, session, subject, columns, log);
  serve(o, session, subject, log);
}

}  // namespace winnow::app
