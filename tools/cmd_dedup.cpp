#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "common/error.h"
#include "common/file.h"
#include "datasets/formats.h"
#include "dedup/based_on.h"
#include "pipeline/export/thumbnails.h"
#include "pipeline/store/cache.h"
#include "tools/across_labels.h"
#include "tools/command.h"
#include "tools/compared.h"
#include "tools/dedup_flags.h"
#include "tools/dedup_lists.h"
#include "tools/dedup_search.h"
#include "tools/feature_flags.h"
#include "tools/flags/flags.h"
#include "tools/gallery_report.h"
#include "tools/in_place.h"
#include "tools/ingest_flags.h"
#include "tools/numbers.h"
#include "tools/obeyed.h"
#include "tools/temporary_folder.h"

namespace winnow::tools {
namespace {

// What decides, beside the flags that other verbs have too.
struct Deciding {
  DedupFlags flags;
  FeatureFlags features;
  std::string splits;  // a selection
  std::uint64_t self_check = 0;
};

struct DedupOptions {
  std::filesystem::path cache;  // or a data set
  IngestFlags reading;          // of that
  std::string name = "default";
  Deciding deciding;
  ListFlags lists;
  std::filesystem::path report;
  bool json = false;
  std::vector<std::string> words;  // of the command
};

// Compares some images with every other, one by one, and what that finds with what the search did.
void check_search(const DedupOptions& o, const Session& session, const dedup::ColumnSource& columns,
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
        "the search missed {} of {} pairs and made up {}; that is a fault of winnow or of this "
        "machine: please report it with the output of winnow info {} --json",
        check.missing.size(), check.edges, check.wrong.size(), o.cache.string()));
  }
  say(session, fmt::format("self-check: {} images compared with every other, {} pairs, as found",
                           grouped(check.queries), grouped(check.edges)));
}

// Where lists go and whether a selection is kept.
Ending ending_of(const DedupOptions& o, const Session& session, const pipeline::Cache& cache,
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
    dedup::ToldGroups groups = dedup::told_groups(what.result.groups, what.links.verified.get());
    if (!o.deciding.splits.empty()) groups.splits = what.columns({}).splits;
    cache.write_selection(what.result.selection, &groups);
  };
  ending.kept = fmt::format("selection '{}' written", o.name);
  return ending;
}

// Writes the page of it.
void show(const DedupOptions& o, const Session& session, const pipeline::Cache& cache,
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

void deduplicate_images(const DedupOptions& o, dedup::Options options, const Session& session,
                        const pipeline::Cache& cache, const pipeline::PictureOf& pictures,
                        bool in_place, const dedup::SharedWork& work) {
  dedup::ColumnSource columns = stoppable(cache.open_fingerprints(), session);
  std::shared_ptr<const dedup::Selection> base;
  std::vector<Split> own;
  if (!o.deciding.splits.empty()) {
    base = std::make_shared<const dedup::Selection>(cache.read_selection(o.deciding.splits));
    own = columns({}).splits;
    columns = dedup::with_splits_of(base, std::move(columns));
  }
  obey(session, o.deciding.flags.obeyed, columns, names_in(cache), options);
  const dedup::ToldLinks links = settle_links(session, o.deciding.flags.choice, o.deciding.features,
                                              images_of(cache, pictures), work, columns, options);
  dedup::Result result = dedup::deduplicate(columns, options, links.source);
  if (o.deciding.self_check > 0 && options.hash == dedup::kExact) {
    say(session, "no self-check: codes are not compared, and only their search can be checked");
  } else if (o.deciding.self_check > 0) {
    check_search(o, session, columns, options, work.links);
  }
  if (base) dedup::put_upon(*base, own, result);
  result.selection.name = o.name;
  result.selection.cache_digest = cache.digest();
  const pipeline::LedgerNames names = cache.read_names();
  const Deduplicated what{result, options, columns, links, std::cref(names)};
  Ending ending = ending_of(o, session, cache, in_place, what);
  ending.first = across_labels(result, options, columns, links.source, o.words);
  if (!o.report.empty()) {
    ending.show = [&] { show(o, session, cache, pictures, what, ending.first); };
  }
  conclude(session, what, o.lists, ending);
}

// What is asked for, before anything is read.
dedup::Options checked(const DedupOptions& o) {
  const Deciding& deciding = o.deciding;
  pipeline::check_selection_name(o.name);
  check_places(o.lists, o.report, o.json);
  check_choice(deciding.flags.choice);
  check_features(deciding.features, deciding.flags.choice);
  if (deciding.features.any() && is_data_set(o.cache)) {
    throw UsageError("--features are of a cache, and " + o.cache.string() +
                     " is a data set; ingest it first, then winnow embed");
  }
  if (deciding.features.any() && deciding.self_check > 0) {
    throw UsageError("--self-check is of the search by codes; leave it out with --features");
  }
  if (deciding.self_check > 0 && deciding.flags.choice.hash == dedup::kExact) {
    throw UsageError("--self-check is of the search by codes, and --hash exact has none");
  }
  if (deciding.flags.drop_issues.empty() && !o.lists.issues.empty()) {
    throw UsageError(
        "--list-issues lists what --drop-issues removes; say which issues, as in "
        "--drop-issues blurry,dark, or use winnow info --issues");
  }
  if (!deciding.splits.empty() && is_data_set(o.cache)) {
    throw UsageError("--splits names a selection of a cache, and " + o.cache.string() +
                     " is a data set; ingest it first");
  }
  return dedup_options(deciding.flags);
}

void decide(const DedupOptions& o, const Session& session, const dedup::SharedWork& work) {
  const dedup::Options options = checked(o);
  if (!is_data_set(o.cache)) {
    const pipeline::Cache cache = pipeline::Cache::open(o.cache);
    if (!o.lists.any() && o.report.empty() && !can_keep_selections(cache.paths())) {
      throw SystemError(o.cache.string() +
                        " cannot be written to, so it keeps no selection; say where lists go, as "
                        "in --list removed.csv or --list -, or deduplicate a copy of it");
    }
    say_alpha_ignored(session, cache);
    deduplicate_images(o, options, session, cache, pipeline::pictures_of(cache), false, work);
    return;
  }
  const TemporaryFolder folder(std::filesystem::temp_directory_path());
  fingerprint_in_place(o.cache, o.reading, hashes_for(o.deciding.flags.choice), session,
                       folder.path());
  const pipeline::Cache cache = pipeline::Cache::open(folder.path());
  const auto source = datasets::open_source(o.cache, open_options(o.reading));
  deduplicate_images(o, options, session, cache,
                     pipeline::pictures_of(*source, cache.manifest().settings.decode), true, work);
}

void run(const DedupOptions& o, Session& session) {
  const ChoiceFlags& choice = o.deciding.flags.choice;
  const std::string& groups = o.deciding.flags.groups;
  const bool all_links = chooses(choice) || choice.verify.value_or(false) ||
                         (!groups.empty() && groups != "components") || !o.lists.pairs.empty() ||
                         o.deciding.self_check > 0 || !o.deciding.flags.obeyed.reviews.empty();
  with_shared_work(session, all_links,
                   [&](const dedup::SharedWork& work) { decide(o, session, work); });
}

}  // namespace

Command add_dedup(Verb program) {
  auto o = std::make_shared<DedupOptions>();
  const Verb verb = program.add_verb(
      "dedup", "Find duplicates and leaks between splits; write a selection that training obeys");
  verb.add_option("cache", o->cache,
                  "Cache made by winnow ingest, or a data set, as of ingest, which is looked at "
                  "where it is: then what would be removed is printed as CSV")
      .required();
  verb.add_option("--name", o->name, "Name of the selection of a cache").show_default();
  add_dedup_flags(verb, "--", o->deciding.flags);
  add_feature_flags(verb, o->deciding.features);
  verb.add_option("--splits", o->deciding.splits,
                  "Take the splits that this selection has, as winnow split makes them; what it "
                  "removes stays removed");
  add_reading_flags(verb, o->reading);
  add_list_flags(verb, o->lists);
  add_report_flag(verb, o->report);
  verb.add_option("--self-check", o->deciding.self_check,
                  "Compare so many images, drawn at random, with every other one by one, and fail "
                  "if the search found anything else")
      .check(whole_in(0, kMostCount));
  verb.add_flag("--json", o->json, "Print one JSON object on stdout");
  verb.footer(
      "Hashes:" + hash_lines() +
      "\n\nNothing is deleted: a selection is a decision that can be changed at any time.\n"
      "Without --hash and --threshold the images choose: of the stored hashes the one that finds\n"
      "most, to as many bits as have fewer than 0.5 expected false pairs among so many images\n"
      "(docs/thresholds.md). It says which, what that finds and what not.\n"
      "Up to 100,000 images that have details are then compared themselves, as with --verify,\n"
      "unless --hash, --threshold, --risk, --precision or --no-verify leaves it to codes.\n"
      "Under mpirun ranks share the search and the looking at pictures; rank 0 does the rest, and\n"
      "it alone needs the files.\n"
      "A selection of the same name is kept as NAME.previous.\n\n"
      "Examples:\n"
      "  winnow dedup photos/ > duplicates.csv        # a data set, in place\n"
      "  winnow dedup cache\n"
      "  winnow dedup cache --report duplicates.html  # to look at them\n"
      "  winnow dedup cache --no-verify               # by codes alone\n"
      "  winnow dedup cache --risk 10                 # by codes: more copies, and some strangers\n"
      "  winnow dedup cache --precision 0.95          # by as many bits as that allows\n"
      "  winnow dedup cache --hash phash --threshold 6\n"
      "  winnow dedup cache --verify                  # by the pictures, however many there are\n"
      "  winnow dedup cache --features default --cosine 0.97   # made by winnow embed\n"
      "  winnow dedup cache --features default --cosine 0.7 --verify   # pictures have the last "
      "word\n"
      "  winnow dedup cache --hash exact --name exact --list-groups groups.csv\n"
      "  winnow dedup cache --scope across --on-leak move   # no split shares a picture\n"
      "  winnow dedup cache --review said.jsonl --prefer 'originals/**' --protect 'gold/**'\n"
      "  mpirun -np 4 winnow dedup cache              # the same selection, sooner\n"
      "  winnow dedup cache --drop-issues blurry,dark --list-issues bad.csv\n"
      "  winnow dedup cache --on-leak fail --json     # in continuous integration");
  return {verb, true,
          [o, verb](Session& session) {
            o->words = words_of(verb);
            run(*o, session);
          },
          true};
}

}  // namespace winnow::tools
