#include "app/export/export.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "app/dedup/across_labels.h"
#include "app/dedup/compared.h"
#include "app/dedup/review_constraints.h"
#include "app/dedup/search.h"
#include "app/sources/in_place.h"
#include "app/temporary_folder.h"
#include "app/words.h"
#include "common/error.h"
#include "common/json.h"
#include "dedup/decisions/deduplicate.h"
#include "pipeline/export/thumbnails.h"
#include "pipeline/parallel/worker_limit.h"

namespace winnow::app {
namespace {

void tell(const ExportRequest& o, const pipeline::ExportOptions& options,
          const pipeline::Cache& cache, const pipeline::ExportResult& result, Session& session) {
  const double rate = static_cast<double>(result.samples) / std::max(result.seconds, 1e-9);
  const bool list = options.as == pipeline::ExportAs::kList;
  say(session, fmt::format("{} {} {} in {:.1f} s ({:.0f} samples a second): {}, {} MiB in all",
                           count_of(result.samples, "sample"), list ? "listed in" : "exported to",
                           o.to.string(), result.seconds, rate, count_of(result.files, "file"),
                           grouped(result.bytes >> 20)));
  if (cache.manifest().settings.variants.copies > 1 &&
      (options.as == pipeline::ExportAs::kImageFolder ||
       options.as == pipeline::ExportAs::kWebDataset)) {
    say(session,
        "the cache holds augmented variants of each training image, not the image itself: the "
        "first variant is exported");
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
    say(session, fmt::format("{} not exported: unreadable, or dropped by the ingest",
                             count_of(lost, "input is", "inputs are")));
  }
  if (result.linked + result.copied > 0) {
    say(session, fmt::format("{}, {}", count_of(result.linked, "link"),
                             count_of(result.copied, "copy", "copies")));
  }
  for (const std::string& name : result.first_copied) {
    say(session,
        fmt::format("  copied: the file of '{}' is gone or has changed since the ingest", name));
  }
  if (result.copied > result.first_copied.size()) say(session, "  and so on");
  if (!o.json) return;
  const Json json{{"schema", "winnow.export/1"}, {"as", o.as},
                  {"samples", result.samples},   {"left_out", result.left_out},
                  {"files", result.files},       {"bytes", result.bytes},
                  {"linked", result.linked},     {"copied", result.copied},
                  {"samples_per_second", rate},  {"digest", cache.digest()}};
  print(session, fmt::format("{}\n", json.dump()));
}

void write(const ExportRequest& o, const pipeline::ExportOptions& options,
           const pipeline::Cache& cache, Session& session) {
  pipeline::ExportResult result;
  {
    const ProgressSink bar = progress_bar(session, "export", "samples");
    result = pipeline::export_cache(cache, o.to, options, bar);
  }
  tell(o, options, cache, result, session);
}

// The standard output is for lists of other verbs; an export goes to a file.
void check_place(const std::filesystem::path& path, const char* flag) {
  if (path != "-") return;
  throw UsageError(
      fmt::format("{} - does not work: an export is not printed; name a file or a folder (./- for "
                  "one of that name)",
                  flag));
}

void export_a_cache(const ExportRequest& o, const InPlace& in_place,
                    const pipeline::ExportOptions& options, Session& session) {
  if (!in_place.given.empty()) {
    throw UsageError(in_place.given + " is for a data set that is read in place, but " +
                     o.cache.string() +
                     " is a cache; name a selection of winnow dedup with --selection");
  }
  write(o, options, pipeline::Cache::open(o.cache), session);
}

// Fingerprints the data set in place, and keeps the decision in the cache at `folder`.
pipeline::Cache decide_in_place(const ExportRequest& o, const InPlace& in_place,
                                dedup::Options deciding, const std::string& name,
                                const std::filesystem::path& folder, Session& session) {
  fingerprint_in_place(o.cache, in_place.reading, hashes_for(in_place.flags.choice), session,
                       folder);
  pipeline::Cache cache = pipeline::Cache::open(folder);
  dedup::ColumnSource columns = stoppable(cache.open_fingerprints(), session);
  apply_constraints(session, in_place.flags.constraints, columns, names_in(cache), deciding);
  const auto source = datasets::open_source(o.cache, open_options(in_place.reading));
  const Images images =
      images_of(cache, pipeline::pictures_of(*source, cache.manifest().settings.decode));
  dedup::Result result;
  with_shared_work(session, /*all_links=*/true, [&](const dedup::SharedWork& work) {
    const dedup::LinksWithEvidence links =
        settle_links(session, {in_place.flags.choice}, images, work, columns, deciding);
    result = dedup::deduplicate(columns, deciding, links.source);
    const std::string first =
        across_labels(result, deciding, columns, links.source, in_place.words);
    if (!first.empty()) say(session, first);
  });
  if (in_place.flags.fails_on_leak()) refuse_leaks(result);
  result.selection.name = name;
  result.selection.cache_digest = cache.digest();
  cache.write_selection(result.selection);
  report_constraints(session, deciding, result);
  return cache;
}

// Exports what a data set keeps, from the data set's own files.
void export_in_place(const ExportRequest& o, const InPlace& in_place,
                     pipeline::ExportOptions options, Session& session) {
  using pipeline::ExportAs;
  if (options.as != ExportAs::kTree && options.as != ExportAs::kList) {
    throw UsageError(o.cache.string() +
                     " is a data set, which can be exported only with --as tree or --as list; "
                     "ingest it first for --as " +
                     o.as);
  }
  if (!options.selection.empty()) {
    throw UsageError("--selection names a selection of a cache, but " + o.cache.string() +
                     " is a data set; leave out --selection, and choose duplicates by --threshold "
                     "and the other flags of winnow dedup");
  }
  options.selection = "default";
  if (options.as == ExportAs::kTree && options.source.folders.empty()) {
    options.source.folders = {o.cache};
  }
  pipeline::check_destinations(o.to, options);
  check_choice(in_place.flags.choice);
  check_hash(in_place.flags.choice);
  check_reviews(in_place.flags.constraints.reviews);
  const dedup::Options deciding = dedup_options(in_place.flags);
  const TemporaryFolder folder(std::filesystem::temp_directory_path());
  const pipeline::Cache cache = [&] {
    try {
      return decide_in_place(o, in_place, deciding, options.selection, folder.path(), session);
      // the folder with what a later ingest could resume from is gone
    } catch (const StoppedError&) {
      throw StoppedError("the export was stopped while it looked for duplicates in " +
                         o.cache.string() +
                         ", and left nothing; run the same command again to make it");
    }
  }();
  write(o, options, cache, session);
}

}  // namespace

void run_export(ExportRequest o, const InPlace& in_place, Session& session) {
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

}  // namespace winnow::app
