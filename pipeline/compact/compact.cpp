#include "pipeline/compact/compact.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "common/checksum.h"
#include "common/error.h"
#include "common/file.h"
#include "dedup/hash/hashes.h"
#include "pipeline/compact/plan.h"
#include "pipeline/export/pixels.h"
#include "pipeline/ingest/part.h"
#include "pipeline/ingest/workspace.h"
#include "pipeline/parallel/worker_limit.h"
#include "pipeline/store/channel_sums.h"
#include "pipeline/store/choice.h"
#include "pipeline/store/pack_writer.h"
#include "pipeline/store/settings.h"
#include "pipeline/store/shard_file.h"
#include "pipeline/store/tally.h"

namespace winnow::pipeline {
namespace fs = std::filesystem;
namespace {

using Clock = std::chrono::steady_clock;

bool lies_in(const fs::path& path, const fs::path& folder) {
  const fs::path inner = fs::weakly_canonical(path);
  const fs::path outer = fs::weakly_canonical(folder);
  return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

// The kept part of the cache.
struct Kept {
  dedup::Selection selection;
  std::vector<SampleId> ids;
  std::vector<bool> rows;  // one entry for each row of the table
};

Kept choose_kept(const Cache& cache, const CompactOptions& options, const fs::path& out) {
  const std::string from = cache.paths().root.string();
  if (cache.manifest().shards.empty()) {
    throw UsageError(from + " has fingerprints only: there is nothing to compact");
  }
  if (lies_in(out, cache.paths().root)) {
    throw UsageError(out.string() +
                     " is inside the cache it would be made from; choose another --out");
  }
  Kept kept;
  kept.selection = cache.read_selection(options.selection);
  const auto plain = [](float weight) { return weight == 0 || weight == 1; };
  if (kept.selection.mode == dedup::SelectionMode::kOnePerGroup ||
      !std::ranges::all_of(kept.selection.weights, plain)) {
    throw UsageError("selection '" + options.selection +
                     "' has weights for samples, but a compacted cache has none; name one that "
                     "only keeps and removes");
  }
  if (!kept.selection.splits.empty()) {
    throw UsageError("selection '" + options.selection +
                     "' moves samples to other splits, which a compacted cache cannot; train with "
                     "the selection, or export its splits with winnow export --selection " +
                     options.selection);
  }
  const dedup::Fingerprints table = cache.open_fingerprints()({});
  const Choice choice = choose(table, std::nullopt, &kept.selection, false);
  if (choice.rows.empty()) {
    throw UsageError("selection '" + options.selection + "' keeps nothing of " + from);
  }
  kept.rows.resize(table.size());
  for (const std::size_t row : choice.rows) {
    kept.rows[row] = true;
    kept.ids.push_back(table.ids[row]);
  }
  return kept;
}

// Serialises progress reports from any thread.
class Counter {
 public:
  Counter(const ProgressSink& sink, Progress from) : sink_(sink), progress_(std::move(from)) {}
  void add(std::uint64_t count) {
    const std::lock_guard lock(mutex_);
    progress_.done += count;
    if (sink_) sink_(progress_);
  }

 private:
  std::mutex mutex_;
  const ProgressSink& sink_;
  Progress progress_;
};

// The scale at which the cache's pixel sums were computed.
int scale_of_hashes(const Manifest& manifest) {
  std::vector<std::string> names;
  for (const std::string& hash : manifest.tables.hashes)
    names.push_back(hash.substr(0, hash.find(':')));
  return dedup::common_scale(names);
}

// Copies the records of one run into a shard.
class ShardCopier {
 public:
  ShardCopier(const Cache& cache, const LedgerNames& names, const CachePaths& to,
              const std::string& key, std::span<const SampleId> ids, const ShardInfo& shard)
      : cache_(cache),
        names_(names),
        to_(to),
        key_(key),
        ids_(ids),
        shard_(shard),
        settings_(cache.manifest().settings.decode),
        scale_(scale_of_hashes(cache.manifest())) {}

  // `check` is called between records and may throw.
  Part copy(const auto& check, Counter& counter) {
    Part part;
    part.info.file = shard_.file;
    part.info.first_id = shard_.first_id;
    part.info.last_id = shard_.last_id;
    part.info.records = ids_.size();
    PackWriter writer(to_.root / part.info.file);
    for (std::size_t begin = 0; begin < ids_.size();) {
      const std::size_t end = read_some(begin, check);
      part.tally.add(count(std::span(read_).first(end - begin)));
      for (const RecordView& record : read_) writer.put(record);
      counter.add(end - begin);
      begin = end;
    }
    writer.finish();
    measure_shard(to_, part.info);
    PartWriter(to_, shard_name(shard_), key_).finish(part);
    return part;
  }

 private:
  // Reads enough records from `begin` on to keep threads busy. Returns where they end.
  std::size_t read_some(std::size_t begin, const auto& check) {
    constexpr std::uint64_t kBytes = 4u << 20;
    constexpr std::size_t kRecords = 512;
    read_.clear();
    std::uint64_t bytes = 0;
    while (begin + read_.size() < ids_.size() && read_.size() < kRecords && bytes < kBytes) {
      check();
      read_.push_back(record(ids_[begin + read_.size()]));
      bytes += read_.back().payload.size();
    }
    return begin + read_.size();
  }

  RecordView record(SampleId id) const {
    try {
      return cache_.record(id);
    } catch (const FormatError& error) {
      throw FormatError("'" + names_(id) + "' cannot be copied: " + error.what());
    }
  }

  Tally count(std::span<const RecordView> records) const {
    const auto add = [&](const tbb::blocked_range<std::size_t>& range, Tally tally) {
      for (std::size_t i = range.begin(); i < range.end(); ++i) add_pixels(records[i], tally);
      return tally;
    };
    const auto join = [](Tally a, const Tally& b) {
      a.add(b);
      return a;
    };
    Tally tally;
    // While waiting, this thread must not take work of another shard.
    tbb::this_task_arena::isolate([&] {
      tally = tbb::parallel_reduce(tbb::blocked_range<std::size_t>(0, records.size()), Tally{}, add,
                                   join);
    });
    return tally;
  }

  void add_pixels(const RecordView& record, Tally& tally) const {
    const auto image = pixels_of(record, settings_, scale_);
    if (!image) {
      throw Error("'" + names_(record.id) + "' cannot be decoded any more (" +
                  image.error().detail +
                  "); compact with the winnow and the libraries that ingested it, or ingest again");
    }
    tally.add(record.height_px, record.width_px, image->channels, sum_channels(image->view()),
              image->pixels.size() / static_cast<std::size_t>(image->channels), record.split);
  }

  const Cache& cache_;
  const LedgerNames& names_;
  const CachePaths& to_;
  const std::string& key_;
  const std::span<const SampleId> ids_;
  const ShardInfo& shard_;  // the shard in the source cache
  const DecodeSettings settings_;
  const int scale_;
  std::vector<RecordView> read_;  // views live as long as the cache
};

void check_stop(const StopRequested& stop, const fs::path& out) {
  if (!stop || !stop()) return;
  throw StoppedError("stopped during the compaction into " + out.string() +
                     "; run the same command again to continue after the finished shards");
}

struct Copied {
  std::vector<Part> parts;      // for all runs, in order
  std::uint64_t kept_here = 0;  // samples not finished by an earlier run
};

// Finished parts of earlier runs are used as they are.
Copied copy_shards(const Cache& cache, const Kept& kept, const Workspace& workspace,
                   const std::string& key, const CompactOptions& options,
                   const ProgressSink& progress) {
  const CachePaths& to = workspace.paths();
  const std::vector<ShardInfo>& shards = cache.manifest().shards;
  const std::vector<KeptRun> runs = plan_runs(shards, kept.ids);
  std::vector<std::optional<Part>> parts(runs.size());
  Progress so_far{.done = 0, .total = kept.ids.size(), .note = {}};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::string name = shard_name(shards[runs[i].shard]);
    parts[i] = read_part(to, name, key);
    if (parts[i]) so_far.done += parts[i]->info.records;
    if (!parts[i]) remove_part(to, name);
  }
  Copied all{.parts = {}, .kept_here = kept.ids.size() - so_far.done};
  const LedgerNames names = cache.read_names();
  Counter counter(progress, so_far);
  const WorkerLimit limit(options.threads);
  tbb::task_arena arena(options.threads > 0 ? options.threads : tbb::task_arena::automatic);
  arena.execute([&] {
    tbb::parallel_for(std::size_t{0}, runs.size(), [&](std::size_t i) {
      if (parts[i]) return;
      const KeptRun& run = runs[i];
      ShardCopier copier(cache, names, to, key,
                         std::span(kept.ids).subspan(run.begin, run.end - run.begin),
                         shards[run.shard]);
      parts[i] = copier.copy([&] { check_stop(options.stop, to.root); }, counter);
    });
  });
  for (std::optional<Part>& part : parts) all.parts.push_back(*std::move(part));
  return all;
}

// Writes the ledger, with removed samples recorded as such; sets the manifest's hash and counts of
// it.
void write_ledger(const Cache& cache, const dedup::Selection& selection, const CachePaths& to,
                  Manifest& manifest) {
  constexpr std::size_t kRows = 256;
  const LedgerNames names = cache.read_names();
  DurableFile file(to.ledger());
  Xxh3Stream hash;
  FateCounts fates{};
  std::vector<LedgerRow> rows;
  const auto flush = [&] {
    const std::string lines = to_json_lines(rows);
    hash.update(as_bytes(lines));
    file.append(as_bytes(lines));
    rows.clear();
  };
  std::size_t decision = 0;  // ids ascend in both
  cache.for_each_ledger_row([&](const LedgerRow& row) {
    const auto& ids = selection.ids;
    while (decision < ids.size() && ids[decision] < row.id) ++decision;
    const bool decided = decision < ids.size() && ids[decision] == row.id;
    if (decided && row.fate == Fate::kOk && !(selection.weights[decision] > 0)) {
      rows.push_back(left_out(row, selection, decision, names(selection.kept[decision])));
    } else {
      rows.push_back(row);
    }
    ++fates[static_cast<std::size_t>(rows.back().fate)];
    if (rows.size() == kRows) flush();
  });
  flush();
  file.finish();
  manifest.tables.ledger_hash = to_hex(hash.digest());
  manifest.inputs.by_fate = by_name(fates);
}

void write_fingerprints(const Cache& cache, const std::vector<bool>& rows, const CachePaths& to,
                        Manifest& manifest) {
  std::vector<std::string> hashes;
  for (const std::string& hash : manifest.tables.hashes)
    hashes.push_back(hash.substr(0, hash.find(':')));
  make_directories(to.fingerprints().parent_path());
  manifest.tables.fingerprints_hash = to_hex(dedup::write_rows(
      to.fingerprints(), cache.open_fingerprints(), hashes, rows, cache.open_thumbnails()));
  manifest.images.statistics = Statistics(manifest.classes.size());
  const dedup::ColumnNames counted{"labels", "widths_px", "heights_px", "file_bytes"};
  manifest.images.statistics->add(dedup::read_fingerprints(InputFile(to.fingerprints()), &counted));
}

}  // namespace

CompactResult compact(const Cache& cache, const fs::path& out, const CompactOptions& options,
                      const ProgressSink& progress) {
  const auto started = Clock::now();
  const Kept kept = choose_kept(cache, options, out);
  const std::string key = to_hex(
      xxh3_128(as_bytes(cache.digest() + to_hex(xxh3_128(dedup::serialize(kept.selection))))));
  Workspace workspace =
      Workspace::claim(out,
                       "winnow is compacting a cache into this one, or was stopped while it did: "
                       "run the same compact again to go on.\n" +
                           key + "\n");
  CompactResult result;
  result.kept = kept.ids.size();
  result.removed = kept.rows.size() - kept.ids.size();
  const auto done = [&](Manifest manifest) {
    workspace.finish();
    result.digest = digest(manifest);
    result.manifest = std::move(manifest);
    result.seconds = std::chrono::duration<double>(Clock::now() - started).count();
    return std::move(result);
  };
  if (workspace.complete()) return done(Cache::open(out).manifest());
  const CachePaths& to = workspace.paths();
  workspace.make_shards_folder();
  make_directories(parts_folder(to));
  Manifest manifest = cache.manifest();
  manifest.shards.clear();
  Tally tally;
  Copied copied = copy_shards(cache, kept, workspace, key, options, progress);
  result.kept_here = copied.kept_here;
  for (Part& part : copied.parts) {
    tally.add(part.tally);
    manifest.shards.push_back(std::move(part.info));
  }
  manifest.images = summary_of(tally);
  manifest.settings = with_dropped(std::move(manifest.settings), kept.selection.settings,
                                   cache.paths().selection(kept.selection.name).string());
  write_fingerprints(cache, kept.rows, to, manifest);
  write_ledger(cache, kept.selection, to, manifest);
  check_stop(options.stop, out);
  if (fs::exists(cache.paths().alpha())) write_file_durably(to.alpha(), "");
  fsync_directory(to.root);
  write_file_durably(to.manifest(), to_json(manifest));
  return done(std::move(manifest));
}

}  // namespace winnow::pipeline
