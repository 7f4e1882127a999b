#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "common/error.h"
#include "common/file.h"
#include "dedup/based_on.h"
#include "dedup/ranks/shared_search.h"
#include "dedup/tune/curve.h"
#include "pipeline/parallel/worker_limit.h"
#include "pipeline/store/cache.h"
#include "tools/command.h"
#include "tools/dedup_flags.h"
#include "tools/dedup_lists.h"
#include "tools/in_place.h"
#include "tools/ingest_flags.h"
#include "tools/temporary_folder.h"

namespace winnow::tools {
namespace {

struct DedupOptions {
  std::filesystem::path cache;  // or a data set
  IngestFlags reading;          // of that
  std::string name = "default";
  DedupFlags flags;
  std::optional<double> precision;
  std::string splits;  // a selection
  ListFlags lists;
  std::uint64_t self_check = 0;
  bool json = false;
};

int threshold_of(const DedupOptions& o, const Session& session, const dedup::ColumnSource& columns,
                 const std::string& hash) {
  const dedup::Curve curve = dedup::measure_curve(columns, {.hash = hash});
  const auto threshold = dedup::threshold_for(curve, *o.precision);
  if (!threshold) {
    throw RefusedError(fmt::format(
        "of {}, not even equal codes are duplicates with a precision of {:.1f} %; ask for less, "
        "take another hash, or see winnow tune",
        hash, 100 * *o.precision));
  }
  const dedup::CurvePoint& point = curve.points[static_cast<std::size_t>(*threshold)];
  say(session, fmt::format("a threshold of {} bits: about {:.0f} of {} pairs are false", *threshold,
                           point.false_pairs, grouped(point.pairs)));
  return *threshold;
}

// Compares some images with every other, one by one, and what that finds with what the search did.
void check_search(const DedupOptions& o, const Session& session, const dedup::ColumnSource& columns,
                  const dedup::Options& options, const dedup::LinkSource& links) {
  const dedup::Fingerprints table = columns({"codes:" + options.hash, "quality"});
  const dedup::CodeColumn& codes = dedup::codes_of(table, options.hash);
  const std::vector<std::uint32_t> rows = dedup::matchable_rows(table);
  std::vector<dedup::Edge> edges;
  dedup::find_links(table, options, links, rows, [&](std::span<const dedup::Edge> found) {
    edges.insert(edges.end(), found.begin(), found.end());
  });
  std::ranges::sort(edges);
  const dedup::SelfCheck check =
      dedup::check_edges(codes, rows, options.threshold, edges, o.self_check, /*seed=*/0);
  if (!check.missing.empty() || !check.wrong.empty()) {
    throw Error(fmt::format(
        "the search missed {} of {} pairs and made up {}; that is a fault of winnow or of this "
        "machine: please report it with the output of winnow info {} --json",
        check.missing.size(), check.edges, check.wrong.size(), o.cache.string()));
  }
  say(session, fmt::format("self-check: {} images compared with every other, {} pairs, as found",
                           grouped(check.queries), grouped(check.edges)));
}

void deduplicate_cache(const DedupOptions& o, const Session& session, const pipeline::Cache& cache,
                       bool in_place, const dedup::LinkSource& links) {
  dedup::Options options = dedup_options(o.flags);
  dedup::ColumnSource columns = cache.open_fingerprints();
  std::shared_ptr<const dedup::Selection> base;
  std::vector<Split> own;
  if (!o.splits.empty()) {
    base = std::make_shared<const dedup::Selection>(cache.read_selection(o.splits));
    own = columns({}).splits;
    columns = dedup::with_splits_of(base, std::move(columns));
  }
  if (o.precision) options.threshold = threshold_of(o, session, columns, options.hash);
  dedup::Result result = dedup::deduplicate(columns, options, links);
  if (o.self_check > 0) check_search(o, session, columns, options, links);
  if (base) dedup::put_upon(*base, own, result);
  dedup::Selection& selection = result.selection;
  selection.name = o.name;
  selection.cache_digest = cache.digest();

  const pipeline::LedgerNames names = cache.read_names();
  Ending ending{.fails_on_leak = o.flags.fails_on_leak(), .json = o.json};
  if (!in_place) {
    ending.list = cache.paths().selection(o.name).replace_extension(".csv");
    ending.keep = [&] { cache.write_selection(selection); };
    ending.kept = fmt::format("selection '{}' written", o.name);
  }
  conclude(session, {result, options, columns, links, std::cref(names)}, o.lists, ending);
}

void decide(const DedupOptions& o, const Session& session, const dedup::LinkSource& links) {
  pipeline::check_selection_name(o.name);
  if (o.precision && !(*o.precision >= 0)) throw UsageError("--precision is a number from 0 to 1");
  if (o.self_check > 0 && o.flags.dedup.hash == dedup::kExact) {
    throw UsageError("--self-check is of the search by codes, and --hash exact has none");
  }
  if (!is_data_set(o.cache)) {
    deduplicate_cache(o, session, pipeline::Cache::open(o.cache), false, links);
    return;
  }
  if (!o.splits.empty()) {
    throw UsageError("--splits names a selection of a cache, and " + o.cache.string() +
                     " is a data set; ingest it first");
  }
  const TemporaryFolder folder(std::filesystem::temp_directory_path());
  const std::string& hash = o.flags.dedup.hash;
  const auto hashes = hash == dedup::kExact ? std::vector<std::string>() : std::vector{hash};
  fingerprint_in_place(o.cache, o.reading, hashes, session, folder.path());
  deduplicate_cache(o, session, pipeline::Cache::open(folder.path()), true, links);
}

void run(const DedupOptions& o, Session& session) {
  const pipeline::WorkerLimit limit(session.comm.size() > 1 ? thread_plan(session, 0).decode : 0);
  const dedup::SharedSearchOptions options{.all_links = o.flags.groups != "components" ||
                                                        !o.lists.pairs.empty() || o.self_check > 0};
  dedup::with_shared_search(
      session.comm, [&](const dedup::LinkSource& links) { decide(o, session, links); }, options);
}

}  // namespace

Command add_dedup(CLI::App& program) {
  auto o = std::make_shared<DedupOptions>();
  CLI::App* app = program.add_subcommand(
      "dedup", "Find duplicates and leaks between splits; write a selection that training obeys");
  app->add_option("cache", o->cache,
                  "Cache made by winnow ingest, or a data set, as of ingest, which is looked at "
                  "where it is: then what would be removed is printed as CSV")
      ->required();
  app->add_option("--name", o->name, "Name of the selection of a cache")->capture_default_str();
  add_dedup_flags(*app, "--", o->flags);
  app->add_option("--precision", o->precision,
                  "Choose the threshold: the largest whose expected precision is at least this "
                  "(see winnow tune)")
      ->check(CLI::Range(0.0, 1.0))
      ->excludes("--threshold");
  app->add_option("--splits", o->splits,
                  "Take the splits that this selection has, as winnow split makes them; what it "
                  "removes stays removed");
  add_reading_flags(*app, o->reading);
  add_list_flags(*app, o->lists);
  app->add_option("--self-check", o->self_check,
                  "Compare so many images, drawn at random, with every other one by one, and fail "
                  "if the search found anything else")
      ->check(CLI::NonNegativeNumber);
  app->add_flag("--json", o->json, "Print one JSON object on stdout");
  app->footer("Hashes:" + hash_lines() +
              "\n\nNothing is deleted: a selection is a decision that can be changed at any time.\n"
              "On 32x32 images 4 bits are precise and 8 find about half of the near duplicates.\n"
              "Under mpirun ranks share the search; rank 0 does the rest and needs the files.\n\n"
              "Examples:\n"
              "  winnow dedup photos/ --threshold 6 > duplicates.csv   # a data set, in place\n"
              "  winnow dedup cache --threshold 6\n"
              "  winnow dedup cache --precision 0.95          # as many bits as that allows\n"
              "  winnow dedup cache --hash exact --name exact --list-groups groups.csv\n"
              "  winnow dedup cache --scope across --on-leak move   # no split shares a picture\n"
              "  mpirun -np 4 winnow dedup cache --threshold 6   # the same selection, sooner\n"
              "  winnow dedup cache --on-leak fail --json     # in continuous integration");
  return {app, true, [o](Session& session) { run(*o, session); }};
}

}  // namespace winnow::tools
