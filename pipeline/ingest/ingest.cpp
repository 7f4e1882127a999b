#include "pipeline/ingest/ingest.h"

#include <tbb/global_control.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "common/checksum.h"
#include "common/error.h"
#include "common/file.h"
#include "pipeline/ingest/chunk.h"
#include "pipeline/ingest/part.h"
#include "pipeline/ingest/plan.h"
#include "pipeline/ingest/shard_sink.h"
#include "pipeline/ingest/workspace.h"
#include "pipeline/store/json_internal.h"

namespace winnow::pipeline {
namespace fs = std::filesystem;
namespace {

using datasets::Listing;
using datasets::Source;

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kTransactionBytes = 4u << 20;

std::string_view store_name(Store store) noexcept {
  switch (store) {
    case Store::kOriginal:
      return "original";
    case Store::kRaw:
      return "raw";
    case Store::kNone:
      break;
  }
  return "none";
}

void check_options(const IngestOptions& options) {
  if (options.shard_bytes == 0) throw UsageError("shards must hold more than 0 bytes");
  if (options.memory_bytes < 1u << 20) {
    throw UsageError("an ingest needs at least 1 MiB of memory for bytes in flight");
  }
  if (options.decode.max_scans < 1) throw UsageError("JPEGs have one scan at least; allow more");
  if (options.threads < 0) throw UsageError("the number of threads must not be negative");
}

std::string listing_hash(const Source& source) {
  Xxh3Stream stream;
  ByteWriter row;
  const auto put_text = [&row](std::string_view text) {
    row.put<std::uint64_t>(text.size());
    row.put_text(text);
  };
  const auto flush = [&] {
    stream.update(row.bytes());
    row.bytes().clear();
  };
  row.put<std::uint64_t>(source.class_names().size());
  for (const std::string& name : source.class_names()) put_text(name);
  const Listing& entries = source.entries();
  row.put<std::uint64_t>(entries.size());
  std::size_t position = 0;
  for (const std::string& name : entries.names()) {
    put_text(name);
    row.put(entries.split(position));
    row.put<std::uint64_t>(entries.labels(position).size());
    row.put_array(entries.labels(position));
    put_text(entries.group(position));
    row.put(entries.input_bytes(position));
    flush();
    ++position;
  }
  flush();
  return to_hex(stream.digest());
}

std::string settings_of(const IngestOptions& options, const dedup::Fingerprints& columns) {
  Json hashes = Json::array();
  for (const auto& column : columns.codes) {
    hashes.push_back(column.hash + ":" + std::to_string(column.version));
  }
  Json settings{{"store", store_name(options.store)},
                {"hashes", hashes},
                {"shard_bytes", options.shard_bytes}};
  write_to(settings, options.decode);
  return settings.dump();
}

// The last part of the path, whatever way it was written; never an absolute path.
std::string source_name(const fs::path& path) {
  fs::path whole = fs::absolute(path).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();
  return whole.filename().string();
}

std::string in_mebibytes(std::uint64_t bytes) {
  return std::to_string((bytes + (1u << 20) - 1) >> 20) + " MiB";
}

// How many bytes of pixels a byte of input holds, from inputs spread evenly over the listing.
double pixels_per_byte(const ChunkMaker& maker, const Listing& entries) {
  constexpr std::size_t kSamples = 48;
  double input = 0;
  double pixels = 0;
  const std::size_t step = std::max<std::size_t>(1, entries.size() / kSamples);
  for (std::size_t i = 0; i < entries.size(); i += step) {
    const auto size = maker.pixel_bytes(i);
    input += static_cast<double>(entries.input_bytes(i));
    pixels += static_cast<double>(size);
  }
  return input > 0 ? std::max(1.0, 1.25 * pixels / input) : 1.0;
}

// Upper estimate of the size of the shards that hold `chunks`.
std::uint64_t estimate_bytes(const ChunkMaker& maker, const Listing& entries,
                             const std::vector<ChunkPlan>& chunks, Store store) {
  const double scale = store == Store::kRaw ? pixels_per_byte(maker, entries) : 1.0;
  double bytes = 0;
  for (const ChunkPlan& chunk : chunks) {
    if (chunk.ends_shard) bytes += 64 << 10;
    for (std::uint64_t i = chunk.begin; i < chunk.end; ++i) {
      const double payload = scale * static_cast<double>(entries.input_bytes(i));
      const double page_rest = std::min(4096.0, payload / 50);  // a value ends inside a page
      bytes += payload + page_rest + 64 + 4.0 * static_cast<double>(entries.labels(i).size()) +
               static_cast<double>(entries.group(i).size());
    }
  }
  return static_cast<std::uint64_t>(bytes);
}

void check_memory(std::uint64_t need) {
  const std::uint64_t left = memory_left();
  if (need <= left) return;
  throw UsageError("the shards need about " + in_mebibytes(need) + " of memory, but only " +
                   in_mebibytes(left) +
                   " are left on this machine; leave out --memory, or store "
                   "less");
}

std::size_t count_tokens(const std::vector<ChunkPlan>& chunks, const Listing& entries,
                         const IngestOptions& options, int threads) {
  // Finished chunks wait for the one before them: more in flight than threads keeps all busy. What
  // they keep is bounded by Gates::kept; asking for much more than that would only mean that packs
  // have to be made again.
  std::uint64_t input = 0;
  for (const ChunkPlan& plan : chunks) {
    for (std::uint64_t i = plan.begin; i < plan.end; ++i) input += entries.input_bytes(i);
  }
  const std::uint64_t growth = options.store == Store::kRaw ? 8 : 2;
  const std::uint64_t chunk = 1 + growth * input / std::max<std::size_t>(1, chunks.size());
  const auto most = static_cast<std::uint64_t>(3 * threads);
  return static_cast<std::size_t>(std::clamp<std::uint64_t>(options.memory_bytes / 4 / chunk, 2,
                                                            std::max<std::uint64_t>(2, most)));
}

// The serial part: takes chunks in order and puts what they hold into shards and parts.
class Collector {
 public:
  Collector(const ChunkMaker& maker, ShardSink& sink, Store store, Progress progress,
            const ProgressSink& report)
      : maker_(maker),
        sink_(sink),
        store_(store),
        progress_(std::move(progress)),
        report_(report) {}

  void add(Chunk chunk) {
    if (chunk.error) std::rethrow_exception(chunk.error);
    if (part_.inputs() == 0) part_.info.first_id = make_sample_id(0, chunk.plan.begin);
    part_.info.last_id = make_sample_id(0, chunk.plan.end - 1);
    if (store_ != Store::kNone) store_packs(chunk);
    sink_.add(chunk.plan.shard, chunk.ledger, chunk.fingerprints);
    part_.size += dedup::FingerprintWriter::size_of(chunk.fingerprints);
    part_.tally.add(chunk.tally);
    for (const LedgerRow& row : chunk.ledger) {
      ++part_.fates[static_cast<std::size_t>(row.fate)];
      part_.remarks.add(row);
    }
    if (chunk.plan.ends_shard) sink_.end_shard(chunk.plan.shard, std::exchange(part_, {}));
    progress_.done += chunk.plan.end - chunk.plan.begin;
    if (report_) report_(progress_);
  }

 private:
  void store_packs(Chunk& chunk) {
    // A transaction ends with its chunk, or before the pack that would make it too large: rules of
    // the content alone. Its packs stay in memory until then, as LMDB's copies of them do.
    std::vector<lmdb::Writer::Entry> transaction;
    std::vector<ByteGate::Credit> credits;
    std::uint64_t held = 0;
    const auto commit = [&] {
      sink_.put(chunk.plan.shard, transaction);
      transaction.clear();
      credits.clear();
      held = 0;
    };
    for (Pack& pack : chunk.packs) {
      if (pack.pack.empty()) maker_.make_again(chunk, pack);
      if (held > 0 && held + pack.pack.size() > kTransactionBytes) commit();
      held += pack.pack.size();
      transaction.emplace_back(make_sample_id(0, pack.items.front().position),
                               std::move(pack.pack));
      credits.push_back(std::move(pack.credit));
      part_.info.records += pack.items.size();
    }
    commit();
  }

  const ChunkMaker& maker_;
  ShardSink& sink_;
  Store store_;
  Progress progress_;
  const ProgressSink& report_;
  Part part_;  // of the shard being written
};

// What earlier runs finished of the shards, by their numbers. What cannot be used is removed.
std::map<std::size_t, Part> read_parts(const CachePaths& paths, std::span<const ShardRange> shards,
                                       const std::string& key) {
  std::map<std::size_t, Part> parts;
  for (std::size_t shard = 0; shard < shards.size(); ++shard) {
    auto part = read_part(paths, shard, key);
    if (part) {
      parts.emplace(shard, *std::move(part));
    } else {
      remove_part(paths, shard);
    }
  }
  return parts;
}

// A cache without images serves nobody, and its cause is one the user wants to hear of.
void require_an_image(const CachePaths& paths, const std::map<std::size_t, Part>& parts) {
  std::uint64_t inputs = 0;
  for (const auto& [shard, part] : parts) {
    if (part.size.rows > 0) return;
    inputs += part.inputs();
  }
  if (inputs == 0) return;
  std::optional<LedgerRow> first;
  for_each_piece(paths, parts.begin()->first, [&](const std::string& ledger, const auto&) {
    if (!first) first = parse_ledger(ledger, "a part").front();
  });
  throw RefusedError(
      "none of the " + std::to_string(inputs) + " inputs could be read: the first, " + first->name +
      ", is " + std::string(fate_name(first->fate)) + " (" + first->reason + "); nothing was kept");
}

// Puts the parts together: writes fingerprints and ledger, and fills in of the manifest what came
// of the inputs.
void assemble(std::map<std::size_t, Part> parts, const dedup::Fingerprints& no_rows,
              const CachePaths& paths, Manifest& manifest) {
  Tally tally;
  FateCounts fates{};
  dedup::FingerprintWriter::Size size;
  for (auto& [shard, part] : parts) {
    if (!part.info.file.empty()) manifest.shards.push_back(std::move(part.info));
    tally.add(part.tally);
    for (std::size_t i = 0; i < fates.size(); ++i) fates[i] += part.fates[i];
    size += part.size;
  }
  make_directories(paths.fingerprints().parent_path());
  dedup::FingerprintWriter table(paths.fingerprints(), no_rows, size);
  DurableFile ledger(paths.ledger());
  Xxh3Stream ledger_hash;
  Statistics statistics(manifest.classes.size());
  for (const auto& [shard, part] : parts) {
    for_each_piece(paths, shard, [&](const std::string& lines, const dedup::Fingerprints& rows) {
      table.append(rows);
      statistics.add(rows);
      ledger_hash.update(as_bytes(lines));
      ledger.append(as_bytes(lines));
    });
  }
  manifest.fingerprints_hash = to_hex(table.finish());
  ledger.finish();
  manifest.ledger_hash = to_hex(ledger_hash.digest());
  manifest.ledger = by_name(fates);
  tally.write_to(manifest);
  manifest.statistics = std::move(statistics);
}

// Chunks between the filter that makes them and the one that collects them, by their numbers.
class Handover {
 public:
  void put(std::size_t number, Chunk chunk) {
    const std::lock_guard lock(mutex_);
    chunks_.emplace(number, std::move(chunk));
  }
  Chunk take(std::size_t number) {
    const std::lock_guard lock(mutex_);
    return std::move(chunks_.extract(number).mapped());
  }

 private:
  std::mutex mutex_;
  std::map<std::size_t, Chunk> chunks_;
};

void check_stop(const StopRequested& stop, const fs::path& out) {
  if (!stop || !stop()) return;
  throw StoppedError("stopped before the end of the ingest into " + out.string() +
                     "; run the same command again to go on after the shards that are finished");
}

// Runs `chunks` through `maker` in parallel and into `collector` in order. What one of them throws
// first, in the order of chunks, is thrown here, as is what `check` throws, which is called before
// each input and each chunk that is collected. Filters themselves never throw and tokens are mere
// numbers: a pipeline that is cancelled does not release the tokens it holds.
void run_pipeline(const std::vector<ChunkPlan>& chunks, const ChunkMaker& maker,
                  Collector& collector, std::size_t tokens, const std::function<void()>& check) {
  std::size_t next = 0;
  std::atomic<bool> failed{false};
  Handover handover;
  std::exception_ptr error;
  const auto source = [&](tbb::flow_control& flow) -> std::size_t {
    if (failed || next == chunks.size()) {
      flow.stop();
      return 0;
    }
    return next++;
  };
  const auto make = [&](std::size_t number) {
    if (failed) return number;
    Chunk chunk;
    try {
      chunk = maker.make(chunks[number], check);
    } catch (...) {
      chunk.error = std::current_exception();
    }
    handover.put(number, std::move(chunk));
    return number;
  };
  const auto collect = [&](std::size_t number) {
    if (failed) return;
    try {
      check();
      collector.add(handover.take(number));
    } catch (...) {
      error = std::current_exception();
      failed = true;
    }
  };
  using Mode = tbb::filter_mode;
  using Number = std::size_t;
  tbb::task_group_context context(tbb::task_group_context::isolated);
  tbb::parallel_pipeline(tokens,
                         tbb::make_filter<void, Number>(Mode::serial_in_order, source) &
                             tbb::make_filter<Number, Number>(Mode::parallel, make) &
                             tbb::make_filter<Number, void>(Mode::serial_in_order, collect),
                         context);
  if (error) std::rethrow_exception(error);
}

void run_on_threads(int threads, const auto& work) {
  std::optional<tbb::global_control> limit;
  if (threads > 0) {
    limit.emplace(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
  }
  tbb::task_arena arena(threads > 0 ? threads : tbb::task_arena::automatic);
  arena.execute([&] { work(arena.max_concurrency()); });
}

IngestResult result_of(Manifest manifest, Remarks remarks, Clock::time_point started) {
  IngestResult result;
  result.remarks = std::move(remarks);
  result.digest = digest(manifest);
  result.manifest = std::move(manifest);
  result.seconds = std::chrono::duration<double>(Clock::now() - started).count();
  return result;
}

}  // namespace

IngestResult ingest(const Source& source, const fs::path& source_path, const fs::path& out,
                    const IngestOptions& options, const ProgressSink& progress) {
  const auto started = Clock::now();
  check_options(options);
  const Listing& entries = source.entries();
  Gates gates(options.memory_bytes);
  const ChunkMaker maker(source, options, gates);
  const std::vector<ShardRange> shards = plan_shards(entries, options.shard_bytes);
  std::vector<ChunkPlan> chunks = plan_chunks(entries, shards, options.store);

  Manifest manifest;
  manifest.sources.push_back(
      {.name = source_name(source_path),
       .format = std::string(source.format()),
       .inputs = entries.size(),
       .listing_hash = listing_hash(source),
       .class_names = {source.class_names().begin(), source.class_names().end()}});
  manifest.classes = manifest.sources[0].class_names;
  manifest.inputs = entries.size();
  manifest.store = store_name(options.store);
  manifest.settings = settings_of(options, maker.empty_fingerprints());
  for (const auto& column : maker.empty_fingerprints().codes) {
    manifest.hashes.push_back(column.hash + ":" + std::to_string(column.version));
  }

  const std::string key =
      to_hex(xxh3_128(as_bytes(manifest.sources[0].listing_hash + manifest.settings +
                               (options.memory ? "memory" : "disk"))));
  Workspace workspace = Workspace::claim(
      out,
      "winnow is ingesting here, or was stopped while it did: run the same ingest again to go "
      "on.\n" +
          key + "\n");
  const CachePaths& paths = workspace.paths();
  if (workspace.complete()) {
    workspace.finish();
    const Cache cache = Cache::open(out);
    Remarks remarks;
    cache.for_each_ledger_row([&](const LedgerRow& row) { remarks.add(row); });
    return result_of(cache.manifest(), std::move(remarks), started);
  }
  std::map<std::size_t, Part> parts = read_parts(paths, shards, key);
  std::erase_if(chunks, [&parts](const ChunkPlan& chunk) { return parts.contains(chunk.shard); });
  if (options.store != Store::kNone && options.memory) {
    try {
      check_memory(estimate_bytes(maker, entries, chunks, options.store));
    } catch (const Error&) {
      if (parts.empty()) workspace.abandon();
      throw;
    }
    workspace.make_shards_folder_in_memory(key);
  } else if (options.store != Store::kNone) {
    workspace.make_shards_folder();
  }
  make_directories(parts_folder(paths));

  Progress so_far{.done = 0, .total = entries.size(), .note = {}};
  for (const auto& [shard, part] : parts) so_far.done += part.inputs();
  const std::uint64_t inputs_to_do = entries.size() - so_far.done;
  ShardSink sink(paths, key);
  Collector collector(maker, sink, options.store, so_far, progress);
  run_on_threads(options.threads, [&](int threads) {
    run_pipeline(chunks, maker, collector, count_tokens(chunks, entries, options, threads),
                 [&] { check_stop(options.stop, out); });
  });
  for (auto& [shard, part] : sink.finish()) parts.emplace(shard, std::move(part));
  try {
    require_an_image(paths, parts);
  } catch (const RefusedError&) {
    workspace.abandon();
    throw;
  }
  Remarks remarks;
  for (const auto& [shard, part] : parts) remarks.add(part.remarks);
  assemble(std::move(parts), maker.empty_fingerprints(), paths, manifest);
  fsync_directory(paths.root);
  write_file_durably(paths.manifest(), to_json(manifest));
  workspace.finish();

  IngestResult result = result_of(std::move(manifest), std::move(remarks), started);
  result.inputs_done = inputs_to_do;
  result.peak_in_flight_bytes = gates.meter.peak();
  return result;
}

}  // namespace winnow::pipeline
