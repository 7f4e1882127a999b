#include "pipeline/export/export.h"

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "common/csv.h"
#include "common/error.h"
#include "common/file.h"
#include "pipeline/export/choice.h"
#include "pipeline/export/prepare.h"
#include "pipeline/export/workbench.h"
#include "pipeline/export/writer.h"
#include "pipeline/parallel/worker_limit.h"

namespace winnow::pipeline {
namespace fs = std::filesystem;
namespace {

using Clock = std::chrono::steady_clock;

// Common data of all kinds of export.
struct Job {
  const Cache& cache;
  const fs::path to;
  const ExportOptions& options;
  const ProgressSink& progress;
  const dedup::Fingerprints table;  // including labels
  const std::optional<dedup::Selection> selection;
  const Choice choice;
  const std::vector<std::size_t> removed;  // rows that the selection removes

  void report(std::uint64_t done) const {
    const std::size_t beside = options.removed_to.empty() ? 0 : removed.size();
    if (progress) progress({.done = done, .total = beside + choice.rows.size(), .note = {}});
  }
};

// How many of `rows` to prepare at once; the results are held in memory.
std::size_t batch_of(const Job& job, std::span<const std::size_t> rows) {
  constexpr std::size_t kSamples = 256;
  constexpr std::uint64_t kPixels = 16u << 20;
  std::uint64_t pixels = 0;
  std::size_t count = 0;
  while (count < rows.size() && count < kSamples && pixels < kPixels) {
    const std::size_t row = rows[count++];
    pixels += std::uint64_t{job.table.widths_px[row]} * job.table.heights_px[row];
  }
  return count;
}

void note_links(const std::vector<ReadySample>& samples, ExportResult& result) {
  constexpr std::size_t kFew = 10;
  for (const ReadySample& sample : samples) {
    if (sample.same_file) {
      ++result.linked;
    } else {
      ++result.copied;
      if (result.first_copied.size() < kFew) result.first_copied.push_back(sample.name);
    }
  }
}

std::unique_ptr<SampleWriter> make_writer(const Job& job, const FolderPlan& plan,
                                          const fs::path& root) {
  const Manifest& manifest = job.cache.manifest();
  const ExportOptions& options = job.options;
  switch (options.as) {
    case ExportAs::kImageFolder:
      return make_folder_writer(root, plan, options.source.link);
    case ExportAs::kTree:
      return make_tree_writer(root, manifest, options.source.link);
    default:
      return make_webdataset_writer(root, manifest, options.shard_bytes);
  }
}

void write_output(const Job& job, const Preparer& preparer, std::span<const std::size_t> rows,
                  SampleWriter& writer, std::uint64_t& done, ExportResult& result) {
  while (!rows.empty()) {
    check_stop(job.options.stop);
    const std::size_t count = batch_of(job, rows);
    const std::vector<ReadySample> samples = preparer.prepare(rows.first(count));
    writer.put(samples);
    if (job.options.source.link != Link::kNone) note_links(samples, result);
    job.report(done += count);
    rows = rows.subspan(count);
  }
  writer.finish();
  check_stop(job.options.stop);
  result.files += writer.files();
  result.bytes += writer.bytes();
}

void write_samples(const Job& job, ExportResult& result) {
  FolderPlan plan;
  if (job.options.as == ExportAs::kImageFolder) {
    plan = plan_folders(job.cache.manifest(), job.table, job.choice.rows);
  }
  const LedgerNames names = job.cache.read_names();
  const Preparer preparer(job.cache, job.table, names, job.options);
  const WorkerLimit limit(job.options.threads);
  std::optional<Workbench> beside;
  if (!job.options.removed_to.empty()) beside.emplace(with_a_name(job.options.removed_to));
  Workbench bench(job.to);
  std::uint64_t done = 0;
  const auto fill = [&](const Workbench& at, std::span<const std::size_t> rows) {
    const std::unique_ptr<SampleWriter> writer = make_writer(job, plan, at.content());
    write_output(job, preparer, rows, *writer, done, result);
  };
  if (beside) fill(*beside, job.removed);
  fill(bench, job.choice.rows);
  if (beside) beside->finish();  // both must be complete before one is put in place
  bench.finish();
  result.samples = job.choice.rows.size();
}

std::string classes_text(const Manifest& manifest, std::span<const std::int32_t> labels) {
  std::string text;
  for (const std::int32_t label : labels) {
    text += (text.empty() ? "" : ";") + class_name(manifest, label);
  }
  return text;
}

void write_list(const Job& job, ExportResult& result) {
  const LedgerNames names = job.cache.read_names();
  DurableFile file(job.to);
  const auto put = [&](const std::string& line) {
    file.append(as_bytes(line));
    result.bytes += line.size();
  };
  put("id,name,split,class,kept,why,kept_name\n");
  for (std::size_t i = 0; i < job.choice.rows.size(); ++i) {
    check_stop(job.options.stop);
    const std::size_t row = job.choice.rows[i];
    const SampleId id = job.table.ids[row];
    std::string line = std::to_string(id) + ',' + csv_field(names(id)) + ',';
    line += split_name(job.table.splits[row]);
    line += ',' + csv_field(classes_text(job.cache.manifest(), job.table.labels[row])) + ',';
    const auto& s = job.selection;
    if (!s || s->weights[job.choice.decisions[i]] > 0) {
      line += "yes,,\n";
    } else {
      const std::size_t decision = job.choice.decisions[i];
      line += "no,";
      line += rule_name(s->rules[decision]);
      line += ',' + csv_field(names(s->kept[decision])) + '\n';
    }
    put(line);
    job.report(++result.samples);
  }
  file.finish();
  result.files = 1;
}

// Refuses impossible options before anything is read.
void check_options(const Cache& cache, const ExportOptions& options) {
  const std::string from = cache.paths().root.string();
  const std::string& store = cache.manifest().store;
  const bool tree = options.as == ExportAs::kTree;
  const bool folder = options.as == ExportAs::kImageFolder;
  const bool links = options.source.link != Link::kNone;
  const bool from_source = !options.source.folders.empty();
  if (!options.removed_to.empty() && (!tree || options.selection.empty())) {
    throw UsageError("--removed needs --as tree and --selection");
  }
  if (links && !tree && !folder) {
    throw UsageError(
        "only a tree or an image folder can contain links to images; use --as tree or "
        "image-folder");
  }
  if (links && !from_source) {
    throw UsageError(
        "--link makes links to the files that were ingested; name their folder with "
        "--source");
  }
  if (from_source && !links && !tree) {
    throw UsageError(
        "only a tree is copied from the source; use --as tree or --link, or leave out "
        "--source");
  }
  if (tree && !from_source && store != "original") {
    throw UsageError(from +
                     " does not keep the files that were ingested; name their folder with "
                     "--source");
  }
  if (!tree && options.as != ExportAs::kList && cache.manifest().shards.empty()) {
    throw UsageError(from +
                     " holds fingerprints only; use --as tree with --source, ingest with --store "
                     "original or raw to export images, or export --as list");
  }
  if (links && folder && store != "original") {
    throw UsageError(from +
                     " has pixels, not the files they came from; leave out --link, or ingest with "
                     "--store original");
  }
}

}  // namespace

void check_destinations(const fs::path& to, const ExportOptions& options) {
  check_is_free(with_a_name(to), options.as != ExportAs::kList);
  if (options.removed_to.empty()) return;
  check_is_free(with_a_name(options.removed_to), true);
  check_are_apart(to, options.removed_to);
}

ExportResult export_cache(const Cache& cache, const fs::path& path, const ExportOptions& options,
                          const ProgressSink& progress) {
  const auto started = Clock::now();
  const bool list = options.as == ExportAs::kList;
  const fs::path to = with_a_name(path);
  const std::string from = cache.paths().root.string();
  check_destinations(to, options);
  check_options(cache, options);
  std::optional<dedup::Selection> selection;
  if (!options.selection.empty()) selection = cache.read_selection(options.selection);
  const dedup::Selection* chosen = selection ? &*selection : nullptr;
  dedup::Fingerprints table = cache.open_fingerprints()({"labels", "widths_px", "heights_px"});
  if (chosen != nullptr) apply_splits(*chosen, table);
  Choice choice = choose(table, options.split, chosen, list);
  if (choice.rows.empty()) {
    throw UsageError(
        from + " has no samples" +
        (options.split ? " of split " + std::string(split_name(*options.split)) : "") +
        (chosen != nullptr ? " that selection '" + options.selection + "' keeps" : "") +
        "; see winnow info " + from);
  }
  std::vector<std::size_t> removed;
  if (chosen != nullptr) removed = removed_rows(table, options.split, *chosen);
  ExportResult result;
  result.left_out = removed.size();
  const Job job{cache,
                to,
                options,
                progress,
                std::move(table),
                std::move(selection),
                std::move(choice),
                std::move(removed)};
  list ? write_list(job, result) : write_samples(job, result);
  result.seconds = std::chrono::duration<double>(Clock::now() - started).count();
  return result;
}

}  // namespace winnow::pipeline
