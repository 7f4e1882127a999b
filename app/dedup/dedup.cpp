#include "app/dedup/dedup.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "app/dedup/across_labels.h"
#include "app/dedup/compared.h"
#include "app/dedup/gallery.h"
#include "app/dedup/review_constraints.h"
#include "app/dedup/search.h"
#include "app/sources/in_place.h"
#include "app/temporary_folder.h"
#include "app/words.h"
#include "common/error.h"
#include "dedup/decisions/based_on.h"
#include "pipeline/export/thumbnails.h"
#include "pipeline/store/cache.h"

namespace winnow::app {
namespace {

// Compares some images with all others by brute force, and the result with the search's.
void check_search(const DedupRequest& o, const Session& session, const dedup::ColumnSource& columns,
                  const dedup::Options& options, const dedup::LinkSource& links) {
  const dedup::Fingerprints table = columns({"codes:" + options.hash, "quality"});
  const dedup::CodeColumn& codes = dedup::codes_of(table, options.hash);
  const std::vector<std::uint32_t> rows =
      dedup::matchable_rows(table, options.hash, options.matching.least_quality);
  std::vector<dedup::Edge> edges;
  dedup::find_links(table, options, links, rows, [&](std::span<const dedup::Edge> found) {
    edges.insert(edges.end(), found.begin(), found.end());
  });
  std::ranges::sort(edges);
  const dedup::SelfCheck check =
      dedup::check_edges(codes, rows, options.threshold, edges, o.deciding.self_check, /*seed=*/0);
  if (!check.missing.empty() || !check.wrong.empty()) {
    throw Error(fmt::format(
        "the search missed {} of {} pairs and found {} that do not exist; this is a fault of "
        "winnow or of this machine: please report it with the output of winnow info {} --json",
        check.missing.size(), check.edges, check.wrong.size(), o.cache.string()));
  }
  say(session,
      fmt::format("self-check: {} compared with every other: the same {} as the search found",
                  count_of(check.queries, "image"), count_of(check.edges, "pair")));
}

// Where the lists go, and whether a selection is kept.
Ending ending_of(const DedupRequest& o, const Session& session, const pipeline::Cache& cache,
                 bool in_place, const Deduplicated& what) {
  Ending ending{.fails_on_leak = o.deciding.flags.fails_on_leak(), .json = o.json};
  if (in_place) return ending;
  if (!can_keep_selections(cache.paths())) {
    say(session, fmt::format("no selection is kept: {} cannot be written to", o.cache.string()));
    return ending;
  }
  ending.list = cache.paths().selection(o.name).replace_extension(".csv");
  ending.lock = [&] { return cache.lock_selections(session.stop); };
  ending.prepare = [&] { keep_previous(session, cache, what.result.selection); };
  ending.keep = [&] {
    dedup::GroupsWithEvidence groups =
        dedup::groups_with_evidence(what.result.groups, what.links.verified.get());
    if (!o.deciding.splits.empty()) groups.splits = what.columns({}).splits;
    cache.write_selection(what.result.selection, &groups);
  };
  ending.kept = fmt::format("selection '{}' written", o.name);
  return ending;
}

// Writes the page of the deduplication.
void show(const DedupRequest& o, const Session& session, const pipeline::Cache& cache,
          const pipeline::PictureOf& pictures, const Deduplicated& what, std::string first) {
  const pipeline::Manifest& manifest = cache.manifest();
  write_gallery(session, what, manifest.classes,
                {.title = title_of(manifest),
                 .made = made_here(),
                 .picture_of = pictures,
                 .no_pictures = "There are no pictures: the cache holds fingerprints only. Ingest "
                                "with --store original, or deduplicate the data set in place.",
                 .frame = {.first = std::move(first)}},
                o.report);
}

void deduplicate_images(const DedupRequest& o, dedup::Options options, const Session& session,
                        const pipeline::Cache& cache, const pipeline::PictureOf& pictures,
                        const dedup::SharedWork& work) {
  dedup::ColumnSource columns = stoppable(cache.open_fingerprints(), session);
  std::shared_ptr<const dedup::Selection> base;
  std::vector<Split> own;
  if (!o.deciding.splits.empty()) {
    base = std::make_shared<const dedup::Selection>(cache.read_selection(o.deciding.splits));
    own = columns({}).splits;
    columns = dedup::with_splits_of(base, std::move(columns));
  }
  apply_constraints(session, o.deciding.flags.constraints, columns, names_in(cache), options);
  const dedup::LinksWithEvidence links =
      settle_links(session, {o.deciding.flags.choice, o.deciding.features},
                   images_of(cache, pictures), work, columns, options);
  dedup::Result result = dedup::deduplicate(columns, options, links.source);
  if (o.deciding.self_check > 0 && options.hash == dedup::kExact) {
    say(session, "no self-check: it checks the search by codes, and no codes were compared");
  } else if (o.deciding.self_check > 0) {
    check_search(o, session, columns, options, work.links);
  }
  if (base) dedup::merge_base(*base, own, result);
  result.selection.name = o.name;
  result.selection.cache_digest = cache.digest();
  const pipeline::LedgerNames names = cache.read_names();
  const Deduplicated what{result, options, columns, links, std::cref(names)};
  Ending ending = ending_of(o, session, cache, is_data_set(o.cache), what);
  ending.first = across_labels(result, options, columns, links.source, o.words);
  if (!o.report.empty()) {
    ending.show = [&] { show(o, session, cache, pictures, what, ending.first); };
  }
  conclude(session, what, o.lists, ending);
}

// Checks the request before anything is read.
dedup::Options checked(const DedupRequest& o) {
  const Deciding& deciding = o.deciding;
  pipeline::check_selection_name(o.name);
  check_places(o.lists, o.report, o.json);
  check_choice(deciding.flags.choice);
  check_hash(deciding.flags.choice);
  check_reviews(deciding.flags.constraints.reviews);
  check_features(deciding.features, deciding.flags.choice);
  if (deciding.features.any() && is_data_set(o.cache)) {
    throw UsageError("--features need a cache, and " + o.cache.string() +
                     " is a data set; ingest it first, then winnow embed");
  }
  if (deciding.features.any() && deciding.self_check > 0) {
    throw UsageError(
        "--self-check checks the search by codes, but --features compares no codes; leave out "
        "--self-check");
  }
  if (deciding.self_check > 0 && deciding.flags.choice.hash == dedup::kExact) {
    throw UsageError(
        "--self-check checks the search by codes, but --hash exact compares no codes; leave out "
        "--self-check");
  }
  if (deciding.flags.policy.drop_issues.empty() && !o.lists.issues.empty()) {
    throw UsageError(
        "--list-issues FILE lists what --drop-issues removes; say which issues, as in "
        "--drop-issues blurry,dark, or use winnow info --issues");
  }
  if (!deciding.splits.empty() && is_data_set(o.cache)) {
    throw UsageError("--splits names a selection of a cache, and " + o.cache.string() +
                     " is a data set; ingest it first");
  }
  return dedup_options(deciding.flags);
}

void decide(const DedupRequest& o, const Session& session, const dedup::SharedWork& work) {
  const dedup::Options options = checked(o);
  if (!is_data_set(o.cache)) {
    const pipeline::Cache cache = pipeline::Cache::open(o.cache);
    if (!o.lists.any() && o.report.empty() && !can_keep_selections(cache.paths())) {
      throw SystemError(o.cache.string() +
                        " cannot be written to, so it keeps no selection; say where lists go, as "
                        "in --list removed.csv or --list -, or deduplicate a copy of it");
    }
    say_alpha_ignored(session, cache);
    deduplicate_images(o, options, session, cache, pipeline::pictures_of(cache), work);
    return;
  }
  const TemporaryFolder folder(std::filesystem::temp_directory_path());
  fingerprint_in_place(o.cache, o.reading, hashes_for(o.deciding.flags.choice), session,
                       folder.path());
  const pipeline::Cache cache = pipeline::Cache::open(folder.path());
  const auto source = datasets::open_source(o.cache, open_options(o.reading));
  deduplicate_images(o, options, session, cache,
                     pipeline::pictures_of(*source, cache.manifest().settings.decode), work);
}

}  // namespace

void run_dedup(const DedupRequest& o, Session& session) {
  const ChoiceOptions& choice = o.deciding.flags.choice;
  const std::string& groups = o.deciding.flags.groups;
  const bool all_links = chooses(choice) || choice.verify.value_or(false) ||
                         (!groups.empty() && groups != "components") || !o.lists.pairs.empty() ||
                         o.deciding.self_check > 0 || !o.deciding.flags.constraints.reviews.empty();
  with_shared_work(session, all_links,
                   [&](const dedup::SharedWork& work) { decide(o, session, work); });
}

}  // namespace winnow::app
