#include "pipeline/ingest/ingest.h"

#include <tbb/global_control.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "common/checksum.h"
#include "common/error.h"
#include "common/file.h"
#include "pipeline/ingest/chunk.h"
#include "pipeline/ingest/plan.h"
#include "pipeline/ingest/shard_sink.h"
#include "pipeline/ingest/workspace.h"
#include "pipeline/store/json_internal.h"

namespace winnow::pipeline {
namespace fs = std::filesystem;
namespace {

using datasets::Entry;
using datasets::Source;

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
  row.put<std::uint64_t>(source.entries().size());
  for (const Entry& entry : source.entries()) {
    put_text(entry.name);
    row.put(entry.split);
    row.put<std::uint64_t>(entry.labels.size());
    row.put_array(std::span(entry.labels));
    put_text(entry.group);
    row.put(entry.input_bytes);
    flush();
  }
  flush();
  return to_hex(stream.digest());
}

std::string settings_of(const IngestOptions& options, const dedup::Fingerprints& columns) {
  Json hashes = Json::array();
  for (const auto& column : columns.codes) {
    hashes.push_back(column.hash + ":" + std::to_string(column.version));
  }
  return Json{{"store", store_name(options.store)},
              {"hashes", hashes},
              {"shard_bytes", options.shard_bytes},
              {"max_pixels", options.max_pixels}}
      .dump();
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
double pixels_per_byte(const ChunkMaker& maker, std::span<const Entry> entries) {
  constexpr std::size_t kSamples = 48;
  double input = 0;
  double pixels = 0;
  const std::size_t step = std::max<std::size_t>(1, entries.size() / kSamples);
  for (std::size_t i = 0; i < entries.size(); i += step) {
    const auto size = maker.pixel_bytes(i);
    input += static_cast<double>(entries[i].input_bytes);
    pixels += static_cast<double>(size);
  }
  return input > 0 ? std::max(1.0, 1.25 * pixels / input) : 1.0;
}

// Upper estimate of the shards' size.
std::uint64_t estimate_bytes(const ChunkMaker& maker, std::span<const Entry> entries,
                             std::size_t shards, Store store) {
  const double scale = store == Store::kRaw ? pixels_per_byte(maker, entries) : 1.0;
  double bytes = static_cast<double>(shards) * (64 << 10);
  for (const Entry& entry : entries) {
    const double payload = scale * static_cast<double>(entry.input_bytes);
    const double page_rest = std::min(4096.0, payload / 50);  // a value ends inside a page
    bytes += payload + page_rest + 64 + 4.0 * static_cast<double>(entry.labels.size()) +
             static_cast<double>(entry.group.size());
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

std::size_t count_tokens(const std::vector<ChunkPlan>& chunks, std::span<const Entry> entries,
                         const IngestOptions& options, int threads) {
  // Finished chunks wait for the one before them: more in flight than threads keeps all busy. What
  // they keep is bounded by Gates::kept; asking for much more than that would only mean that packs
  // have to be made again.
  std::uint64_t input = 0;
  for (const Entry& entry : entries) input += entry.input_bytes;
  const std::uint64_t growth = options.store == Store::kRaw ? 8 : 2;
  const std::uint64_t chunk = 1 + growth * input / std::max<std::size_t>(1, chunks.size());
  const auto most = static_cast<std::uint64_t>(3 * threads);
  return static_cast<std::size_t>(std::clamp<std::uint64_t>(options.memory_bytes / 4 / chunk, 2,
                                                            std::max<std::uint64_t>(2, most)));
}

// The serial part: takes chunks in order and puts what they hold into the cache.
class Collector {
 public:
  Collector(const ChunkMaker& maker, const CachePaths& paths, Store store, std::uint64_t inputs,
            const ProgressSink& progress)
      : maker_(maker),
        sink_(paths),
        store_(store),
        inputs_(inputs),
        progress_(progress),
        table_(maker.empty_fingerprints()) {}

  void add(Chunk chunk) {
    if (chunk.error) std::rethrow_exception(chunk.error);
    if (store_ != Store::kNone) store_packs(chunk);
    dedup::append(table_, chunk.fingerprints);
    tally_.add(chunk.tally);
    ledger_.insert(ledger_.end(), std::make_move_iterator(chunk.ledger.begin()),
                   std::make_move_iterator(chunk.ledger.end()));
    if (progress_) progress_({.done = ledger_.size(), .total = inputs_, .note = {}});
  }

  // Writes fingerprints and ledger, and fills in of the manifest what came of the inputs.
  void finish(const CachePaths& paths, Manifest& manifest) {
    manifest.shards = sink_.finish();
    if (store_ != Store::kNone) fsync_directory(paths.shards());
    const Bytes table = dedup::serialize(table_);
    fs::create_directories(paths.fingerprints().parent_path());
    write_file_durably(paths.fingerprints(), table);
    const std::string ledger = to_json_lines(ledger_);
    write_file_durably(paths.ledger(), ledger);
    manifest.fingerprints_hash = to_hex(xxh3_128(table));
    manifest.ledger_hash = to_hex(xxh3_128(as_bytes(ledger)));
    manifest.ledger = count_fates(ledger_);
    tally_.write_to(manifest);
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
      records_ += pack.items.size();
    }
    commit();
    if (!chunk.plan.ends_shard) return;
    sink_.end_shard({.file = shard_file(chunk.plan.shard),
                     .first_id = make_sample_id(0, shard_begin_),
                     .last_id = make_sample_id(0, chunk.plan.end - 1),
                     .records = std::exchange(records_, 0),
                     .bytes = 0,
                     .block_hashes = {}});
    shard_begin_ = chunk.plan.end;
  }

  const ChunkMaker& maker_;
  ShardSink sink_;
  Store store_;
  std::uint64_t inputs_;
  const ProgressSink& progress_;
  dedup::Fingerprints table_;
  Tally tally_;
  std::vector<LedgerRow> ledger_;
  std::uint64_t records_ = 0;      // of the shard being written
  std::uint64_t shard_begin_ = 0;  // its first position
};

// Runs `chunks` through `maker` in parallel and into `collector` in order. What one of them throws
// first, in the order of chunks, is thrown here; filters themselves never throw, since tokens of a
// cancelled pipeline are not released.
void run_pipeline(const std::vector<ChunkPlan>& chunks, const ChunkMaker& maker,
                  Collector& collector, std::size_t tokens) {
  using Token = std::shared_ptr<Chunk>;
  std::size_t next = 0;
  std::atomic<bool> failed{false};
  std::exception_ptr error;
  const auto source = [&](tbb::flow_control& flow) -> Token {
    if (failed || next == chunks.size()) {
      flow.stop();
      return {};
    }
    Token chunk = std::make_shared<Chunk>();
    chunk->plan = chunks[next++];
    return chunk;
  };
  const auto make = [&](Token chunk) -> Token {
    if (failed) return chunk;
    try {
      *chunk = maker.make(chunk->plan);
    } catch (...) {
      chunk->error = std::current_exception();
    }
    return chunk;
  };
  const auto collect = [&](const Token& chunk) {
    if (failed) return;
    try {
      collector.add(std::move(*chunk));
    } catch (...) {
      error = std::current_exception();
      failed = true;
    }
  };
  using Mode = tbb::filter_mode;
  tbb::task_group_context context(tbb::task_group_context::isolated);
  tbb::parallel_pipeline(tokens,
                         tbb::make_filter<void, Token>(Mode::serial_in_order, source) &
                             tbb::make_filter<Token, Token>(Mode::parallel, make) &
                             tbb::make_filter<Token, void>(Mode::serial_in_order, collect),
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

}  // namespace

IngestResult ingest(const Source& source, const fs::path& source_path, const fs::path& out,
                    const IngestOptions& options, const ProgressSink& progress) {
  const auto started = std::chrono::steady_clock::now();
  check_options(options);
  const std::span<const Entry> entries = source.entries();
  Gates gates(options.memory_bytes);
  const ChunkMaker maker(source, options, gates);
  const std::vector<ShardRange> shards = plan_shards(entries, options.shard_bytes);
  const std::vector<ChunkPlan> chunks = plan_chunks(entries, shards, options.store);

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

  const std::string content = manifest.sources[0].listing_hash + manifest.settings;
  Workspace workspace = Workspace::claim(
      out, "winnow is ingesting here, or was stopped while it did; ingest again to begin anew\n");
  if (options.store != Store::kNone && options.memory) {
    try {
      check_memory(estimate_bytes(maker, entries, shards.size(), options.store));
    } catch (const Error&) {
      workspace.abandon();
      throw;
    }
    workspace.make_shards_folder_in_memory(content);
  } else if (options.store != Store::kNone) {
    workspace.make_shards_folder();
  }

  Collector collector(maker, workspace.paths(), options.store, entries.size(), progress);
  run_on_threads(options.threads, [&](int threads) {
    run_pipeline(chunks, maker, collector, count_tokens(chunks, entries, options, threads));
  });
  collector.finish(workspace.paths(), manifest);
  fsync_directory(workspace.paths().root);
  write_file_durably(workspace.paths().manifest(), to_json(manifest));
  workspace.finish();

  IngestResult result;
  result.digest = digest(manifest);
  result.manifest = std::move(manifest);
  result.peak_in_flight_bytes = gates.meter.peak();
  result.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  return result;
}

}  // namespace winnow::pipeline
