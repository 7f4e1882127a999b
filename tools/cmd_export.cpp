#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "common/error.h"
#include "datasets/formats.h"
#include "dedup/deduplicate.h"
#include "pipeline/export/export.h"
#include "pipeline/export/thumbnails.h"
#include "pipeline/parallel/worker_limit.h"
#include "tools/across_labels.h"
#include "tools/command.h"
#include "tools/compared.h"
#include "tools/dedup_flags.h"
#include "tools/dedup_search.h"
#include "tools/flags/flags.h"
#include "tools/in_place.h"
#include "tools/ingest_flags.h"
#include "tools/numbers.h"
#include "tools/obeyed.h"
#include "tools/progress_bar.h"
#include "tools/temporary_folder.h"

namespace winnow::tools {
namespace {

struct ExportOptions {
  std::filesystem::path cache;  // or a data set
  std::filesystem::path to;
  std::string as;  // empty: a tree of a data set, an image folder of a cache
  std::string split;
  std::string link;
  pipeline::ExportOptions options;
  std::uint64_t shard_mib = 256;
  bool json = false;
};

// What is read and decided of a data set in place, and its options, which are for no cache.
struct InPlace {
  IngestFlags reading;
  DedupFlags flags;
  std::vector<std::string> words;  // of the command
  std::vector<Flag> options;
};

void tell(const ExportOptions& o, const pipeline::ExportOptions& options,
          const pipeline::Cache& cache, const pipeline::ExportResult& result, Session& session) {
  const double rate = static_cast<double>(result.samples) / std::max(result.seconds, 1e-9);
  const bool list = options.as == pipeline::ExportAs::kList;
  say(session,
      fmt::format("{} samples {} in {:.1f} s, {:.0f} a second: {} files, {} MiB, in {}",
                  grouped(result.samples), list ? "listed" : "exported", result.seconds, rate,
                  grouped(result.files), grouped(result.bytes >> 20), o.to.string()));
  if (cache.manifest().settings.variants.copies > 1 &&
      (options.as == pipeline::ExportAs::kImageFolder ||
       options.as == pipeline::ExportAs::kWebDataset)) {
    say(session,
        "the cache holds variants of each training image, not the image: the first is exported");
  }
  if (!options.selection.empty()) {
    const bool in_place = o.options.selection.empty();
    const std::string who =
        in_place ? "" : fmt::format("selection '{}' leaves out ", o.options.selection);
    say(session,
        fmt::format("{}{}{}{}", who, grouped(result.left_out), in_place ? " are left out" : "",
                    options.removed_to.empty() ? "" : ", in " + options.removed_to.string()));
  }
  const pipeline::Manifest& manifest = cache.manifest();
  const std::uint64_t lost = manifest.inputs.total - manifest.inputs.by_fate.at("ok");
  if (options.as == pipeline::ExportAs::kTree && lost > 0) {
    say(session,
        fmt::format("{} inputs that were not read, or dropped by the ingest, are in no tree",
                    grouped(lost)));
  }
  if (result.linked + result.copied > 0) {
    say(session,
        fmt::format("{} are links, {} copies", grouped(result.linked), grouped(result.copied)));
  }
  for (const std::string& name : result.first_copied) {
    say(session, fmt::format("  copied: the file of '{}' is gone or not what was ingested", name));
  }
  if (result.copied > result.first_copied.size()) say(session, "  and so on");
  if (!o.json) return;
  const nlohmann::ordered_json json{{"schema", "winnow.export/1"}, {"as", o.as},
                                    {"samples", result.samples},   {"left_out", result.left_out},
                                    {"files", result.files},       {"bytes", result.bytes},
                                    {"linked", result.linked},     {"copied", result.copied},
                                    {"samples_per_second", rate},  {"digest", cache.digest()}};
  fmt::print("{}\n", json.dump());
}

void write(const ExportOptions& o, const pipeline::ExportOptions& options,
           const pipeline::Cache& cache, Session& session) {
  pipeline::ExportResult result;
  {
    const ProgressSink bar = make_progress_bar("export", "samples", true);
    result = pipeline::export_cache(cache, o.to, options, bar);
  }
  tell(o, options, cache, result, session);
}

// The standard output takes lists of other verbs; an export is kept.
void check_place(const std::filesystem::path& path, const char* flag) {
  if (path != "-") return;
  throw UsageError(
      fmt::format("{} - names no file: an export is not printed; name a file or a "
                  "folder (./- for one of that name)",
                  flag));
}

void export_a_cache(const ExportOptions& o, const InPlace& in_place,
                    const pipeline::ExportOptions& options, Session& session) {
  for (const Flag option : in_place.options) {
    if (!option.given()) continue;
    throw UsageError(option.name() + " is for a data set that is exported in place; of " +
                     o.cache.string() + " choose a --selection, as winnow dedup makes them");
  }
  write(o, options, pipeline::Cache::open(o.cache), session);
}

// Fingerprints the data set, and keeps in that cache, at `folder`, what of it stays.
pipeline::Cache decide_in_place(const ExportOptions& o, const InPlace& in_place,
                                dedup::Options deciding, const std::string& name,
                                const std::filesystem::path& folder, Session& session) {
  fingerprint_in_place(o.cache, in_place.reading, hashes_for(in_place.flags.choice), session,
                       folder);
  pipeline::Cache cache = pipeline::Cache::open(folder);
  dedup::ColumnSource columns = stoppable(cache.open_fingerprints(), session);
  obey(session, in_place.flags.obeyed, columns, names_in(cache), deciding);
  const auto source = datasets::open_source(o.cache, open_options(in_place.reading));
  const Images images =
      images_of(cache, pipeline::pictures_of(*source, cache.manifest().settings.decode));
  dedup::Result result;
  with_shared_work(session, /*all_links=*/true, [&](const dedup::SharedWork& work) {
    const dedup::ToldLinks links =
        settle_links(session, in_place.flags.choice, {}, images, work, columns, deciding);
    result = dedup::deduplicate(columns, deciding, links.source);
    const std::string first =
        across_labels(result, deciding, columns, links.source, in_place.words);
    if (!first.empty()) say(session, first);
  });
  if (in_place.flags.fails_on_leak()) refuse_leaks(result);
  result.selection.name = name;
  result.selection.cache_digest = cache.digest();
  cache.write_selection(result.selection);
  tell_obeyed(session, deciding, result);
  return cache;
}

// Exports from its own files what stays of a data set.
void export_in_place(const ExportOptions& o, const InPlace& in_place,
                     pipeline::ExportOptions options, Session& session) {
  using pipeline::ExportAs;
  if (options.as != ExportAs::kTree && options.as != ExportAs::kList) {
    throw UsageError(o.cache.string() +
                     " is a data set, of which --as tree and list are made in "
                     "place; ingest it first for --as " +
                     o.as);
  }
  if (!options.selection.empty()) {
    throw UsageError("--selection names one of a cache, and " + o.cache.string() +
                     " is a data set: it is deduplicated by --threshold and so on");
  }
  options.selection = "default";
  if (options.as == ExportAs::kTree && options.source.folders.empty()) {
    options.source.folders = {o.cache};
  }
  pipeline::check_destinations(o.to, options);
  check_choice(in_place.flags.choice);
  const dedup::Options deciding = dedup_options(in_place.flags);
  const TemporaryFolder folder(std::filesystem::temp_directory_path());
  const pipeline::Cache cache = [&] {
    try {
      return decide_in_place(o, in_place, deciding, options.selection, folder.path(), session);
    } catch (const StoppedError&) {  // what an ingest keeps to go on from is gone with the folder
      throw StoppedError("the export was stopped while it looked for duplicates in " +
                         o.cache.string() +
                         ", and left nothing; run the same command again to make it");
    }
  }();
  write(o, options, cache, session);
}

void run(ExportOptions o, const InPlace& in_place, Session& session) {
  using pipeline::ExportAs;
  const std::map<std::string, ExportAs> ways{{"image-folder", ExportAs::kImageFolder},
                                             {"tree", ExportAs::kTree},
                                             {"webdataset", ExportAs::kWebDataset},
                                             {"list", ExportAs::kList}};
  const bool data_set = is_data_set(o.cache);
  if (o.as.empty()) o.as = data_set ? "tree" : "image-folder";
  pipeline::ExportOptions options = o.options;
  check_place(o.to, "--to");
  check_place(options.removed_to, "--removed");
  options.as = ways.at(o.as);
  options.shard_bytes = o.shard_mib << 20;
  options.stop = session.stop;
  if (!o.link.empty()) {
    options.source.link = o.link == "hard" ? pipeline::Link::kHard : pipeline::Link::kSymbolic;
  }
  options.threads = thread_plan(session, in_place.reading.ingest.work.threads).decode;
  if (!o.split.empty()) options.split = parse_split(o.split);
  const pipeline::WorkerLimit limit(options.threads);
  if (data_set) {
    export_in_place(o, in_place, std::move(options), session);
  } else {
    export_a_cache(o, in_place, options, session);
  }
}

void add_in_place_flags(Verb verb, InPlace& in_place) {
  const auto before = static_cast<std::ptrdiff_t>(verb.flags().size());
  add_reading_flags(verb, in_place.reading);
  add_dedup_flags(verb, "--", in_place.flags);
  const std::vector<Flag> all = verb.flags();
  for (auto option = all.begin() + before; option != all.end(); ++option) {
    if (option->name() == "--threads") continue;  // of any export
    option->group("Of a data set in place");
    in_place.options.push_back(*option);
  }
}

constexpr const char* kFooter =
    "Trees have the very files that were ingested, each checked against the hash it had: from\n"
    "--source, or from the cache where that is ingest --store original. With several sources\n"
    "each has a folder in TO. Elsewhere encoded images keep their bytes and pixels become PNG;\n"
    "of images that ingest --augment made variants of, the first is exported.\n\n"
    "What is there already is never replaced, and nothing is there before all of it is: it is\n"
    "made beside it and renamed at the end, what --removed names before TO. SIGTERM, SIGUSR1 or\n"
    "SIGHUP (exit code 75) and a full disk leave nothing, a kill leaves TO.export, which the same\n"
    "command removes when it is run again. Sources are only read.\n\n"
    "A link is made only to a file that has the very bytes that were ingested; what is gone or\n"
    "changed is copied from the cache, and named, or refused where the cache does not hold it.\n"
    "A change of a file changes what a link shows.\n\n"
    "Examples:\n"
    "  winnow export photos --to clean          # photos/ without its duplicates, same paths\n"
    "  winnow export photos --to clean --removed doubles --link hard\n"
    "  winnow export photos --to clean --review said.jsonl --protect 'gold/**'\n"
    "  winnow export cache --to clean --as tree --selection default --source photos\n"
    "  winnow export cache --to clean --selection default       # clean/{train,test}/<class>/*\n"
    "  winnow export cache --to shards --as webdataset --split train\n"
    "  winnow export cache --to clean --selection default --link hard --source photos\n"
    "  winnow export cache --to all.csv --as list --selection default";

}  // namespace

Command add_export(Verb program) {
  auto o = std::make_shared<ExportOptions>();
  auto in_place = std::make_shared<InPlace>();
  const Verb verb = program.add_verb(
      "export", "Write a cache's images, or a list of them, for other programs to read");
  verb.add_option("cache", o->cache,
                  "Cache made by winnow ingest, or a data set, as of ingest, whose duplicates are "
                  "found where it is and left out")
      .required();
  verb.add_option("--to", o->to, "What to make: a folder, or with --as list a file").required();
  verb.add_option("--as", o->as,
                  "image-folder: SPLIT/CLASS/NAME; tree: the files under the paths that they have "
                  "in their source; webdataset: tar shards; list: a CSV, no images. "
                  "Without: image-folder of a cache, tree of a data set")
      .one_of({"image-folder", "tree", "webdataset", "list"});
  verb.add_option("--selection", o->options.selection,
                  "Only what this selection keeps (a list says of all whether it does, and why)");
  verb.add_option("--removed", o->options.removed_to,
                  "With --as tree: another folder to make, a tree of what is left out");
  verb.add_option("--split", o->split, "Only this split").one_of({"train", "val", "test"});
  verb.add_option("--source", o->options.source.folders,
                  "With --as tree or --link: the folder that was ingested, or the table, list "
                  "or image; once for each source");
  verb.add_option("--link", o->link,
                  "Links to the source's files instead of copies, in trees and image folders: "
                  "hard, symbolic")
      .one_of({"hard", "symbolic"});
  verb.add_option("--shard-size", o->shard_mib, "MiB of a tar shard at most")
      .check(whole_in(1, 1 << 20))
      .show_default();
  verb.add_flag("--json", o->json, "Print one JSON object on stdout");
  add_in_place_flags(verb, *in_place);
  verb.footer(kFooter);
  return {verb, false,
          [o, in_place, verb](Session& session) {
            in_place->words = words_of(verb);
            run(*o, *in_place, session);
          },
          /*stops=*/true};
}

}  // namespace winnow::tools
