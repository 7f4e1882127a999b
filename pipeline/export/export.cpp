#include "pipeline/export/export.h"

#include <tbb/parallel_for.h>

#include <chrono>
#include <exception>
#include <system_error>
#include <utility>
#include <vector>

#include "common/checksum.h"
#include "common/csv.h"
#include "common/error.h"
#include "common/file.h"
#include "pipeline/export/choice.h"
#include "pipeline/export/writer.h"
#include "pipeline/parallel/worker_limit.h"

namespace winnow::pipeline {
namespace fs = std::filesystem;
namespace {

using Clock = std::chrono::steady_clock;

void check_stop(const StopRequested& stop, const fs::path& to) {
  if (!stop || !stop()) return;
  throw StoppedError("stopped before the end of the export to " + to.string() +
                     ", where nothing was left; run the same command again to make it");
}

// Where a name can be put beside: "out/" is "out", "." the folder it is.
fs::path with_a_name(const fs::path& path) {
  fs::path plain = path.lexically_normal();
  if (plain == "." || plain.filename() == "..") plain = fs::absolute(path).lexically_normal();
  return plain.has_filename() || !plain.has_parent_path() ? plain : plain.parent_path();
}

// Nothing, or an empty folder where a folder is to be.
void check_is_free(const fs::path& to, bool folder) {
  std::error_code error;
  const fs::file_type type = fs::symlink_status(to, error).type();
  if (type == fs::file_type::not_found) return;
  if (folder && type == fs::file_type::directory && fs::is_empty(to, error) && !error) return;
  throw UsageError(to.string() +
                   " is there already, and an export replaces nothing; name another, or move it "
                   "away");
}

// Removes a folder, if one is named, with all that is in it.
struct TreeGuard {
  fs::path root;

  TreeGuard() = default;
  TreeGuard(const TreeGuard&) = delete;
  TreeGuard& operator=(const TreeGuard&) = delete;
  ~TreeGuard() {
    std::error_code ignored;
    if (!root.empty()) fs::remove_all(root, ignored);
  }
};

// The folder beside `to` that an export is made in: a file `unfinished`, locked as long as somebody
// works there, and the folder that will be at `to`. Gone when this is.
class Workbench {
 public:
  explicit Workbench(fs::path to) : to_(std::move(to)), root_(to_.string() + ".export") {
    const fs::path marker = root_ / "unfinished";
    std::error_code ignored;
    const bool left = fs::exists(root_, ignored);
    if (left && !fs::exists(marker, ignored) && !fs::is_empty(root_, ignored)) {
      throw UsageError(root_.string() + ", where an export to " + to_.string() +
                       " would be made, is there already and no export left it; move it away");
    }
    make_directories(root_);
    lock_ = lock_directory(root_);
    guard_.root = root_;
    if (left) remove_tree(content());
    write_file_durably(marker, "winnow is exporting here, or was killed while it did.\n");
    make_directories(content());
  }
  fs::path content() const { return root_ / "content"; }

  void finish() {
    sync_file_system(content());
    check_is_free(to_, true);
    std::error_code error;
    fs::remove(to_, error);  // an empty folder
    rename_directory(content(), to_);
  }

 private:
  const fs::path to_;
  const fs::path root_;
  Fd lock_;
  TreeGuard guard_;  // goes before the lock does
};

// What all ways of exporting look at.
struct Job {
  const Cache& cache;
  const fs::path to;
  const ExportOptions& options;
  const ProgressSink& progress;
  const dedup::Fingerprints table;  // with labels
  const std::optional<dedup::Selection> selection;
  const Choice choice;

  void report(std::uint64_t done) const {
    if (progress) progress({.done = done, .total = choice.rows.size(), .note = {}});
  }
};

RecordView record_of(const Job& job, SampleId id, const std::string& name) {
  try {
    const RecordView record = job.cache.record(id, first_variant);
    // Both say it; a cache that somebody put together may say two things.
    for (const std::int32_t label : record.labels) class_name(job.cache.manifest(), label);
    return record;
  } catch (const FormatError& error) {
    throw FormatError("'" + name + "' cannot be exported: " + error.what());
  }
}

// Reads and encodes what is to be written, several samples at once.
class Preparer {
 public:
  Preparer(const Job& job, const LedgerNames& names) : job_(job), names_(names) {
    if (job.options.link != Link::kNone) {
      files_.emplace(job.cache.manifest(), job.options.sources);
      hashes_ = job.cache.open_fingerprints()({"file_hashes"}).file_hashes;
    }
  }

  // The rows of the choice [begin, end); what goes wrong with the first of them is thrown.
  std::vector<ReadySample> prepare(std::size_t begin, std::size_t end) const {
    std::vector<ReadySample> samples(end - begin);
    std::vector<std::exception_ptr> errors(samples.size());
    tbb::parallel_for(std::size_t{0}, samples.size(), [&](std::size_t i) {
      try {
        check_stop(job_.options.stop, job_.to);
        prepare_one(job_.choice.rows[begin + i], samples[i]);
      } catch (...) {
        errors[i] = std::current_exception();
      }
    });
    for (const std::exception_ptr& error : errors) {
      if (error) std::rethrow_exception(error);
    }
    return samples;
  }

 private:
  void prepare_one(std::size_t row, ReadySample& sample) const {
    const SampleId id = job_.table.ids[row];
    sample.name = names_(id);
    sample.record = record_of(job_, id, sample.name);
    sample.record.split = job_.table.splits[row];
    sample.file = image_file(sample.record, sample.made);
    // What is stored may be another form of the file.
    if (files_ && xxh3_128(sample.file.bytes) == hashes_[row]) {
      sample.same_file = files_->find(id, sample.name, hashes_[row]);
    }
  }

  const Job& job_;
  const LedgerNames& names_;
  std::optional<SourceFiles> files_;
  std::vector<Hash128> hashes_;  // by row
};

// Where the samples from `begin` on end that are prepared at once: what is made for them is held.
std::size_t end_of_batch(const Job& job, std::size_t begin) {
  constexpr std::size_t kSamples = 256;
  constexpr std::uint64_t kPixels = 16u << 20;
  std::uint64_t pixels = 0;
  std::size_t end = begin;
  while (end < job.choice.rows.size() && end - begin < kSamples && pixels < kPixels) {
    const std::size_t row = job.choice.rows[end++];
    pixels += std::uint64_t{job.table.widths_px[row]} * job.table.heights_px[row];
  }
  return end;
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

void write_samples(const Job& job, ExportResult& result) {
  const Manifest& manifest = job.cache.manifest();
  FolderPlan plan;
  const bool folder = job.options.as == ExportAs::kImageFolder;
  if (folder) plan = plan_folders(manifest, job.table, job.choice.rows);
  const LedgerNames names = job.cache.read_names();
  const Preparer preparer(job, names);
  const WorkerLimit limit(job.options.threads);
  Workbench bench(job.to);
  const auto writer =
      folder ? make_folder_writer(bench.content(), std::move(plan), job.options.link)
             : make_webdataset_writer(bench.content(), manifest, job.options.shard_bytes);
  for (std::size_t begin = 0; begin < job.choice.rows.size();) {
    check_stop(job.options.stop, job.to);
    const std::size_t end = end_of_batch(job, begin);
    const std::vector<ReadySample> samples = preparer.prepare(begin, end);
    writer->put(samples);
    if (job.options.link != Link::kNone) note_links(samples, result);
    result.samples += samples.size();
    job.report(result.samples);
    begin = end;
  }
  writer->finish();
  check_stop(job.options.stop, job.to);
  bench.finish();
  result.files = writer->files();
  result.bytes = writer->bytes();
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
    check_stop(job.options.stop, job.to);
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

void check_links(const Cache& cache, const ExportOptions& options) {
  if (options.link == Link::kNone) return;
  if (options.as != ExportAs::kImageFolder) {
    throw UsageError("only an image folder can hold links to images; use --as image-folder");
  }
  if (cache.manifest().store != "original") {
    throw UsageError(cache.paths().root.string() +
                     " holds pixels, not the files they came from; "
                     "leave out --link, or ingest with --store original");
  }
}

std::uint64_t count_removed(const dedup::Fingerprints& table, std::optional<Split> split,
                            const dedup::Selection& selection) {
  const Choice all = choose(table, split, &selection, true);
  std::uint64_t removed = 0;
  for (const std::size_t decision : all.decisions) {
    removed += selection.weights[decision] > 0 ? 0 : 1;
  }
  return removed;
}

}  // namespace

ExportResult export_cache(const Cache& cache, const fs::path& path, const ExportOptions& options,
                          const ProgressSink& progress) {
  const auto started = Clock::now();
  const bool list = options.as == ExportAs::kList;
  const fs::path to = with_a_name(path);
  const std::string from = cache.paths().root.string();
  check_is_free(to, !list);
  if (!list && cache.manifest().shards.empty()) {
    throw UsageError(from +
                     " holds fingerprints only; ingest with --store original or raw to export "
                     "images, or export --as list");
  }
  check_links(cache, options);
  std::optional<dedup::Selection> selection;
  if (!options.selection.empty()) selection = cache.read_selection(options.selection);
  const dedup::Selection* chosen = selection ? &*selection : nullptr;
  dedup::Fingerprints table = cache.open_fingerprints()({"labels", "widths_px", "heights_px"});
  if (chosen != nullptr) obey_splits(*chosen, table);
  Choice choice = choose(table, options.split, chosen, list);
  if (choice.rows.empty()) {
    throw UsageError(
        from + " has no samples" +
        (options.split ? " of split " + std::string(split_name(*options.split)) : "") +
        (chosen != nullptr ? " that selection '" + options.selection + "' keeps" : "") +
        "; see winnow info " + from);
  }
  ExportResult result;
  if (chosen != nullptr) result.left_out = count_removed(table, options.split, *chosen);
  const Job job{
      cache, to, options, progress, std::move(table), std::move(selection), std::move(choice)};
  list ? write_list(job, result) : write_samples(job, result);
  result.seconds = std::chrono::duration<double>(Clock::now() - started).count();
  return result;
}

}  // namespace winnow::pipeline
