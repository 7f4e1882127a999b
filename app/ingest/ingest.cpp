#include "app/ingest/ingest.h"

#include <fmt/core.h>
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <map>
#include <memory>
#include <span>

#include "app/dedup/across_labels.h"
#include "app/dedup/compared.h"
#include "app/dedup/gallery.h"
#include "app/dedup/search.h"
#include "app/page/ingest_page.h"
#include "app/sources/class_words.h"
#include "app/sources/ingest_end.h"
#include "app/words.h"
#include "common/comm/agreement.h"
#include "common/error.h"
#include "common/file.h"
#include "common/json.h"
#include "dedup/hash/hashes.h"
#include "pipeline/export/thumbnails.h"
#include "pipeline/ingest/drop.h"
#include "pipeline/ingest/estimate.h"
#include "pipeline/ingest/ingest.h"
#include "pipeline/store/cache.h"
#include "pipeline/store/memory.h"

namespace winnow::app {
namespace {

// Checks, before hours of work, that the folder of the page exists.
void check_report(const IngestRequest& o, const std::filesystem::path& out) {
  if (o.output.report.empty() || o.output.report.parent_path() == out) return;
  check_folder_of(o.output.report, "the report");
}

void write_report(const IngestRequest& o, const std::filesystem::path& out,
                  std::span<const pipeline::IngestSource> sources,
                  const pipeline::IngestResult& result) {
  IngestPage page = read_page(pipeline::Cache::open(out));
  page.cache = out.string();
  page.made = made_here();
  std::vector<std::string> descriptions;
  std::vector<datasets::Skipped> skipped;
  for (const pipeline::IngestSource& source : sources) {
    descriptions.push_back(source.source->description());
    for (const datasets::Skipped& some : source.source->skipped()) skipped.push_back(some);
  }
  page.run = {.descriptions = std::move(descriptions),
              .skipped = std::move(skipped),
              .command = o.output.words,
              .folder = std::filesystem::current_path().string(),
              .times = result.times,
              .seconds = result.seconds,
              .inputs_done = result.inputs_done,
              .peak_rss_bytes = peak_rss_bytes(),
              .notes = remarks_on_classes(result.manifest)};
  page.run->notes.insert(page.run->notes.begin(),
                         {orientation_remark(result, false), matte_remark(result)});
  write_file_durably(o.output.report, html_of(page));
}

// The nearest existing folder above `path`.
std::filesystem::path existing(const std::filesystem::path& path) {
  std::filesystem::path folder = std::filesystem::absolute(path);
  std::error_code ignored;
  while (!std::filesystem::is_directory(folder, ignored) && folder.has_relative_path()) {
    folder = folder.parent_path();
  }
  return folder;
}

// Estimates the ingest by one process, whatever the number of ranks.
void tell_estimate(const IngestRequest& o, const std::filesystem::path& out,
                   std::span<const pipeline::IngestSource> sources,
                   const pipeline::IngestOptions& options, double listing_seconds,
                   const Session& session) {
  const pipeline::Estimate e = pipeline::estimate_ingest(sources, out, options);
  const double seconds = listing_seconds + e.seconds;
  const double rate = static_cast<double>(e.inputs) / std::max(seconds, 1e-9);
  const std::uint64_t free =
      options.target.memory ? pipeline::memory_left() : free_bytes(existing(out));
  say(session, fmt::format("would take about {} ({} to list the source), {:.0f} inputs a second",
                           in_seconds(seconds), in_seconds(listing_seconds), rate));
  say(session, fmt::format("the cache would take about {}; {} are free {}", in_bytes(e.cache_bytes),
                           in_bytes(free), options.target.memory ? "in memory" : "there"));
  say(session, bottleneck(e.times));
  say(session,
      fmt::format("measured on {} of {} in {}; a source that is not in the disk cache, or a busier "
                  "machine, takes longer",
                  grouped(e.sampled_inputs), count_of(e.inputs, "input"),
                  in_seconds(e.sampled_seconds)));
  if (!o.output.json) return;
  const Json json{{"schema", "winnow.estimate/1"},
                  {"inputs", e.inputs},
                  {"input_bytes", e.input_bytes},
                  {"listing_seconds", listing_seconds},
                  {"seconds", seconds},
                  {"images_per_second", rate},
                  {"cache_bytes", e.cache_bytes},
                  {"free_bytes", free},
                  {"slowest", name_of_slowest(e.times)},
                  {"sampled_inputs", e.sampled_inputs},
                  {"sampled_seconds", e.sampled_seconds}};
  print(session, fmt::format("{}\n", json.dump()));
}

// Reports the end, on rank 0. Throws RefusedError if `gate` fails.
void conclude(const IngestRequest& o, const pipeline::Gate& gate, const std::filesystem::path& out,
              std::span<const pipeline::IngestSource> sources, const pipeline::IngestResult& result,
              const Session& session) {
  const IngestEnd end{.out = out,
                      .sources = sources,
                      .result = result,
                      .retried = o.task.retry,
                      .dropped = o.task.drop};
  say_end(end, session);
  if (!o.output.report.empty()) {
    write_report(o, out, sources, result);
    say(session, fmt::format("report: {}", o.output.report.string()));
  }
  if (o.output.json) print(session, fmt::format("{}\n", json_of(end).dump()));
  const std::string why =
      pipeline::refusal(gate, result.manifest.inputs.by_fate, result.remarks.warned);
  if (why.empty()) return;
  throw RefusedError(why + "; they are listed in " + (out / "ledger.jsonl").string() +
                     ", and the cache is complete without those that could not be read");
}

void check_drop_hash(const ChoiceOptions& flags, const std::vector<std::string>& computed) {
  check_choice(flags, "--drop-");
  check_hash(flags);
  const std::string hash = hash_of(flags);
  if (hash == dedup::kExact || hash == kAuto) return;
  if (std::ranges::find(computed, hash) != computed.end()) return;
  throw UsageError(
      fmt::format("--drop-hash {} is not among the hashes that this ingest computes ({}); add it "
                  "to --hash, or name one of these",
                  hash, fmt::join(computed, ", ")));
}

void check_drop_policy(const dedup::Policy& policy) {
  if (policy.mode == dedup::SelectionMode::kKeep &&
      policy.on_conflict != dedup::ConflictAction::kWeight &&
      policy.on_leak != dedup::LeakAction::kMove) {
    return;
  }
  throw UsageError(
      "--drop stores an image in its own split or leaves it out, and can neither move nor weigh "
      "it; ingest without --drop and decide that with winnow dedup");
}

// Pictures of samples. The source number of an id is the place in `sources`.
pipeline::PictureOf pictures_of(std::span<const pipeline::IngestSource> sources,
                                const pipeline::DecodeSettings& settings) {
  std::vector<pipeline::PictureOf> of_source;
  for (const pipeline::IngestSource& source : sources) {
    of_source.push_back(pipeline::pictures_of(*source.source, settings));
  }
  return [of_source = std::move(of_source)](SampleId id, int side_px) {
    return of_source.at(source_of(id))(make_sample_id(0, position_of(id)), side_px);
  };
}

// Decides what --drop leaves out, from the fingerprints of all images.
dedup::Selection decide_drops(const IngestRequest& o, dedup::Options deciding,
                              std::span<const pipeline::IngestSource> sources,
                              const pipeline::Fingerprinted& all,
                              const pipeline::IngestOptions& options, const Session& session) {
  dedup::ColumnSource columns = stoppable(all.columns, session);
  Images images{.hashes = options.hashes, .thumbnails = {}};
  if (all.cache) {
    images = images_of(*all.cache, pictures_of(sources, options.decode));
  } else if (options.target.thumbnails) {  // there will be some
    images.thumbnails = [](std::size_t, std::size_t) {
      return dedup::Ragged<dedup::ThumbnailBlock>();
    };
  }
  const dedup::LinksWithEvidence links =
      settle_links(session, {o.drop_flags.choice}, images, all.work, columns, deciding);
  const dedup::NameSource names = all.cache ? names_in(*all.cache) : [](const dedup::NameSink&) {};
  apply_constraints(session, o.drop_flags.constraints, columns, names, deciding);
  dedup::Result result = dedup::deduplicate(columns, deciding, links.source);
  if (o.drop_flags.fails_on_leak()) refuse_leaks(result);
  if (!all.cache) return std::move(result.selection);
  const std::string first =
      across_labels(result, deciding, columns, links.source, o.output.words, "--drop-");
  if (!first.empty()) say(session, first);
  report_constraints(session, deciding, result);
  return std::move(result.selection);
}

pipeline::IngestResult ingest(const IngestRequest& o, const std::filesystem::path& out,
                              std::span<const pipeline::IngestSource> sources,
                              const pipeline::IngestOptions& options, Session& session) {
  const auto bar = [&](const char* title) { return progress_bar(session, title, "images"); };
  if (!o.task.drop) return pipeline::ingest(sources, out, options, bar("ingest"), session.comm);
  const dedup::Options asked = dedup_options(o.drop_flags);
  comm::on_all(session.comm, [&] {
    check_drop_hash(o.drop_flags.choice, options.hashes);
    check_drop_policy(asked.policy);
  });
  const auto decide = [&](const pipeline::Fingerprinted& all) {
    return decide_drops(o, asked, sources, all, options, session);
  };
  const auto bar_of = [&](pipeline::DropPass pass) {
    return bar(pass == pipeline::DropPass::kFingerprint ? "fingerprint" : "ingest");
  };
  return pipeline::ingest_dropping(sources, out, options, decide, bar_of, session.comm);
}

pipeline::Gate gate_of(const GateOptions& flags) {
  using FailOn = pipeline::Gate::FailOn;
  const std::map<std::string, FailOn> fail_on{{"none", FailOn::kNone},
                                              {"truncated", FailOn::kTruncated},
                                              {"error", FailOn::kError},
                                              {"warning", FailOn::kWarning}};
  pipeline::Gate gate{.fail_on = fail_on.at(flags.fail_on), .max_bad = {}};
  if (!flags.max_bad.empty()) gate.max_bad = pipeline::parse_max_bad(flags.max_bad);
  return gate;
}

// Checks which options go together.
void check_task(const IngestRequest& o) {
  if (o.out.empty() == o.into.empty()) {
    throw UsageError("ingest needs --out CACHE to make a new cache, or --into CACHE to add to one");
  }
  if (o.task.drop && !o.into.empty()) {
    throw UsageError(
        "--drop is for new caches (--out); add to this one without it, then use winnow dedup and "
        "winnow compact");
  }
  if (o.task.retry && (o.out.empty() || o.task.drop || o.task.estimate)) {
    throw UsageError(
        "--retry-failed needs --out CACHE, a finished cache, and excludes --drop and --estimate; "
        "run them one after the other");
  }
  if (o.task.drop && o.task.estimate) {
    throw UsageError("--estimate does not know what --drop will leave out; estimate without it");
  }
}

// Makes glibc return freed memory above 8 MiB to the system at once. By default it raises this
// bound to 32 MiB, and each thread keeps 64 MiB, which breaks --memory-limit. This costs a tenth
// more CPU time for photos of 6 megapixels, so it is done only with a limit.
void give_back_memory() {
  constexpr int kLargeBytes = 8 << 20;
  ::mallopt(M_MMAP_THRESHOLD, kLargeBytes);
  ::mallopt(M_TRIM_THRESHOLD, kLargeBytes);
}

}  // namespace

void run_ingest(const IngestRequest& o, Session& session) {
  if (o.flags.given.contains("--memory-limit")) give_back_memory();
  pipeline::Gate gate;
  const std::filesystem::path& out = o.into.empty() ? o.out : o.into;
  pipeline::IngestOptions options;
  comm::on_all(session.comm, [&] {
    gate = gate_of(o.gate);
    check_task(o);
    check_report(o, out);
    options = o.into.empty() && !o.task.retry
                  ? ingest_options(o.flags, session)
                  : options_to_add(o.flags, pipeline::Cache::open(out).manifest(), session);
    options.target.into = !o.into.empty();
    options.target.retry = o.task.retry;
    options.target.memory = o.task.memory;
  });

  std::vector<std::unique_ptr<datasets::Source>> open_sources;
  std::vector<pipeline::IngestSource> sources;
  pipeline::Stopwatch watch;
  comm::on_all(session.comm, [&] {
    const auto yet =
        nothing_to_finish(session);  // lists large archives and files, which takes time
    for (const std::filesystem::path& path : o.sources) {
      open_sources.push_back(datasets::open_source(path, open_options(o.flags)));
      sources.push_back({open_sources.back().get(), path});
      say(session, fmt::format("{} is {}", path.string(), open_sources.back()->description()));
    }
  });
  if (o.task.estimate) {
    const double listing_seconds = watch.lap();
    comm::on_root(session.comm,
                  [&] { tell_estimate(o, out, sources, options, listing_seconds, session); });
    return;
  }
  if (session.comm.size() > 1) {
    say(session, fmt::format("{} ranks take whole shards; the bar shows those of rank 0",
                             session.comm.size()));
  }
  const pipeline::IngestResult result = ingest(o, out, sources, options, session);
  if (session.comm.rank() == 0) conclude(o, gate, out, sources, result, session);
}

}  // namespace winnow::app
