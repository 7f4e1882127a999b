#include "pipeline/ingest/ingest.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "common/checksum.h"
#include "common/comm/agreement.h"
#include "common/error.h"
#include "common/file.h"
#include "dedup/hash/hashes.h"
#include "pipeline/ingest/assemble.h"
#include "pipeline/ingest/chunk.h"
#include "pipeline/ingest/part.h"
#include "pipeline/ingest/plan.h"
#include "pipeline/ingest/reader.h"
#include "pipeline/ingest/retry.h"
#include "pipeline/ingest/run.h"
#include "pipeline/ingest/shard_sink.h"
#include "pipeline/ingest/workspace.h"
#include "pipeline/store/memory.h"
#include "pipeline/store/settings.h"

namespace winnow::pipeline {
namespace fs = std::filesystem;
namespace {

using datasets::Listing;
using datasets::Source;

using Clock = std::chrono::steady_clock;

constexpr std::array kStores{Store::kOriginal, Store::kRaw, Store::kNone};

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

std::uint64_t memory_bytes(const IngestOptions& options) {
  if (options.memory_bytes > 0) return options.memory_bytes;
  const auto threads = options.threads > 0 ? static_cast<unsigned>(options.threads)
                                           : std::max(1u, std::thread::hardware_concurrency());
  return (std::uint64_t{1} + threads) << 27;
}

// "phash:1", "dhash:1"
std::vector<std::string> hash_names(const dedup::Fingerprints& columns) {
  std::vector<std::string> names;
  for (const auto& column : columns.codes) {
    names.push_back(column.hash + ":" + std::to_string(column.version));
  }
  return names;
}

CacheSettings settings_of(const IngestOptions& options, const dedup::Fingerprints& columns) {
  CacheSettings settings{.store = std::string(store_name(options.store)),
                         .hashes = hash_names(columns),
                         .shard_bytes = options.shard_bytes,
                         .decode = options.decode};
  settings.resize.short_side_px = options.resize.short_side_px;
  const bool encodes = options.store == Store::kOriginal && options.resize.short_side_px > 0;
  if (encodes) settings.resize.quality = options.resize.quality;
  if (options.variants.copies > 0) settings.variants = stored_variants(options.variants);
  if (options.left_out == nullptr) return settings;
  return with_dropped(std::move(settings), options.left_out->decisions.settings);
}

std::string in_mebibytes(std::uint64_t bytes) {
  return std::to_string((bytes + (1u << 20) - 1) >> 20) + " MiB";
}

// What inputs spread evenly over the listings say of all.
struct Sampled {
  double pixels_per_byte = 1;  // bytes of pixels that a byte of input holds
  int channels = 1;            // the most that one has
};
Sampled sample(const ChunkMaker& maker, std::span<const PlacedSource> sources) {
  constexpr std::size_t kSamples = 48;
  double input = 0;
  double pixels = 0;
  Sampled out;
  for (std::size_t s = 0; s < sources.size(); ++s) {
    const Listing& entries = sources[s].source->entries();
    const std::size_t step = std::max<std::size_t>(1, entries.size() / kSamples);
    for (std::size_t i = 0; i < entries.size(); i += step) {
      const ChunkMaker::PixelSize size = maker.pixel_size(s, i);
      input += static_cast<double>(entries.input_bytes(i));
      pixels += static_cast<double>(size.bytes);
      out.channels = std::max(out.channels, size.channels);
    }
  }
  if (input > 0) out.pixels_per_byte = std::max(1.0, 1.25 * pixels / input);
  return out;
}

// Upper estimate of the size of the shards that hold `chunks`.
std::uint64_t estimate_bytes(const ChunkMaker& maker, std::span<const PlacedSource> sources,
                             std::span<const ChunkPlan> chunks, const IngestOptions& options) {
  const VariantSettings& variants = options.variants;
  const Sampled sampled = options.store == Store::kRaw ? sample(maker, sources) : Sampled{};
  // Of an input, in what is stored for it.
  const auto payload_of = [&](const Listing& entries, std::uint64_t i) {
    if (variants.copies == 0) {
      return sampled.pixels_per_byte * static_cast<double>(entries.input_bytes(i));
    }
    const double of_one = static_cast<double>(variant_bytes(variants)) / variants.copies;
    return (of_one * sampled.channels / 3 + 8) * variant_count(variants, entries.split(i));
  };
  double bytes = 0;
  for (const ChunkPlan& chunk : chunks) {
    const Listing& entries = sources[chunk.source].source->entries();
    if (chunk.ends_shard) bytes += 64 << 10;
    for (std::uint64_t i = chunk.begin; i < chunk.end; ++i) {
      if (sources[chunk.source].is_left_out(i)) continue;
      const double payload = payload_of(entries, i);
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

// What all ranks know alike before anything is read.
struct Job {
  std::unique_ptr<const Cache> base;  // that is added to; null: none
  Manifest manifest;                  // as it will be, but for what comes of the inputs
  std::vector<PlacedSource> sources;
  std::vector<ShardPlan> shards;
  std::uint64_t sources_there = 0;
  std::optional<RetryPlan> retry;  // sources and shards are its own
  std::string key;                 // stands for listings and options
  std::string marker;              // of the workspace
};

// Removes those that `base` has.
void remove_those_there(std::vector<DescribedSource>& sources, const Manifest& base,
                        const fs::path& out) {
  std::erase_if(sources, [&](const DescribedSource& source) {
    const auto same = [&](const SourceInfo& old) { return is_same(old, source.info); };
    const auto same_name = [&](const SourceInfo& old) { return old.name == source.info.name; };
    if (std::ranges::any_of(base.sources, same)) return true;
    if (std::ranges::any_of(base.sources, same_name)) {
      throw UsageError(out.string() + " has a source called '" + source.info.name +
                       "' with other files: what was ingested must not change; give new files as a "
                       "source of another name (a link to it will do), or ingest all into a new "
                       "cache");
    }
    return false;
  });
}

void check_base(const Manifest& base, const CacheSettings& settings, const fs::path& out) {
  if (!base.images.tally) {
    throw UsageError(out.string() +
                     " was made by a version that could not add to caches; ingest all its sources "
                     "into a new one");
  }
  if (without_dropped(base.settings) != settings) {
    throw UsageError(out.string() + " was made with other settings: " + to_text(base.settings) +
                     ", not " + to_text(settings) + "; add to it with the same");
  }
}

// Stands for what is decided of which inputs.
std::string key_of(const dedup::Selection& decisions) {
  Xxh3Stream stream;
  stream.update(std::as_bytes(std::span(decisions.ids)));
  stream.update(std::as_bytes(std::span(decisions.kept)));
  stream.update(std::as_bytes(std::span(decisions.distances)));
  stream.update(std::as_bytes(std::span(decisions.rules)));
  return to_hex(stream.digest());
}

// Those of the ids, which ascend, that are of the source.
std::span<const SampleId> ids_in(std::span<const SampleId> ids, const PlacedSource& source) {
  const auto begin = std::ranges::lower_bound(ids, source.id_of(0));
  const auto end = std::lower_bound(begin, ids.end(), source.id_of(source.info.inputs));
  return {begin, end};
}

// The settings that a cache must have to be asked again with these: limits may have been raised
// since, which changes nothing of what could be read.
CacheSettings settings_before(const IngestOptions& options, const dedup::Fingerprints& columns,
                              const Manifest& base) {
  const DecodeSettings old = options_of(base).decode;
  IngestOptions before = options;
  before.decode.max_pixels = std::min(old.max_pixels, options.decode.max_pixels);
  before.decode.max_scans = std::min(old.max_scans, options.decode.max_scans);
  return settings_of(before, columns);
}

// Takes from a finished cache what is not asked for again.
void plan_retry_of(Job& job, std::vector<DescribedSource> sources, const fs::path& out,
                   const IngestOptions& options, const dedup::Fingerprints& no_rows) {
  job.base = std::make_unique<const Cache>(Cache::open(out));
  job.manifest = job.base->manifest();
  check_base(job.manifest, settings_before(options, no_rows, job.manifest), out);
  job.retry = plan_retry(*job.base, std::move(sources), options, job.manifest);
  job.sources = std::move(job.retry->sources);
  job.shards = std::move(job.retry->shards);
  job.manifest.settings = settings_of(options, no_rows);
  std::erase_if(job.manifest.shards, [&](const ShardInfo& shard) {
    const auto is_of = [&](const PlacedSource& source) {
      return source_of(shard.first_id) == source.ordinal;
    };
    return std::ranges::any_of(job.sources, is_of) && !job.retry->files.contains(shard.file);
  });
}

Job plan_job(std::span<const IngestSource> sources, const fs::path& out,
             const IngestOptions& options, const dedup::Fingerprints& no_rows) {
  Job job;
  const CacheSettings settings = settings_of(options, no_rows);
  std::vector<DescribedSource> fresh;
  for (const IngestSource& source : sources) fresh.push_back(describe(source));
  if (options.retry) plan_retry_of(job, std::move(fresh), out, options, no_rows);
  if (options.into) {
    job.base = std::make_unique<const Cache>(Cache::open(out));
    job.manifest = job.base->manifest();
    check_base(job.manifest, settings, out);
    remove_those_there(fresh, job.manifest, out);
    job.sources_there = sources.size() - fresh.size();
  }
  if (!options.retry) {
    job.sources = place_sources(std::move(fresh), job.manifest);
    job.shards = plan_shards(job.sources, options.shard_bytes);
  }
  std::string content = job.base ? job.base->digest() : "";
  if (options.left_out != nullptr) {
    const dedup::Selection& decisions = options.left_out->decisions;
    for (PlacedSource& source : job.sources) source.left_out = ids_in(decisions.ids, source);
    content += key_of(decisions);
  }
  job.manifest.store = store_name(options.store);
  if (!job.base) job.manifest.settings = settings;  // the base's may say what was left out of it
  job.manifest.tables.hashes = hash_names(no_rows);
  for (const PlacedSource& source : job.sources) {
    content += source.info.name + '\0' + source.info.listing_hash;
  }
  if (options.retry) content += "retry";
  job.key = to_hex(
      xxh3_128(as_bytes(content + to_text(settings) + (options.memory ? "memory" : "disk"))));
  job.marker =
      "winnow is ingesting here, or was stopped while it did: run the same ingest again to "
      "go on.\n" +
      job.key + "\n";
  return job;
}

// What one rank has to do.
struct Share {
  std::map<std::size_t, Part> parts;  // of its shards, those that earlier runs finished
  std::vector<ChunkPlan> chunks;      // of the others
  Progress so_far;
};

// Whether a part says that nothing is left to do for a shard. Of a retry, one without a file was
// only looked at: that is all where nothing could be read. What the system would not give is asked
// for again by each run, unless it `asked` already.
bool is_done(const Part& part, const Job& job, std::size_t shard, bool asked) {
  if (part.unreadable() > 0 && !asked) return false;
  const bool is_looked_at =
      job.retry && job.manifest.store != store_name(Store::kNone) && part.info.file.empty();
  return !is_looked_at || (part.size.rows == 0 && !job.retry->made_anew[shard]);
}

// Every rank takes whole shards. It looks for parts of its own only: a network file system may go
// on for a while to say that there is none where it has said so once. Those that cannot be used are
// removed.
Share take_share(const CachePaths& paths, const Job& job, std::span<const ChunkPlan> chunks,
                 const comm::Communicator& comm, bool asked = false) {
  Share share;
  const auto ranks = static_cast<std::size_t>(comm.size());
  for (auto shard = static_cast<std::size_t>(comm.rank()); shard < job.shards.size();
       shard += ranks) {
    const ShardPlan& plan = job.shards[shard];
    const std::string name = shard_name(job.sources[plan.source], plan);
    auto part = read_part(paths, name, job.key);
    share.so_far.total += plan.end - plan.begin;
    if (part && is_done(*part, job, shard, asked)) {
      share.so_far.done += plan.end - plan.begin;
      share.parts.emplace(shard, *std::move(part));
    } else {
      remove_part(paths, name);
    }
  }
  std::ranges::copy_if(chunks, std::back_inserter(share.chunks), [&](const ChunkPlan& chunk) {
    return chunk.shard % ranks == static_cast<std::size_t>(comm.rank()) &&
           !share.parts.contains(chunk.shard);
  });
  return share;
}

// Of a rank that is not rank 0: that it sees the workspace rank 0 made.
void check_workspace(const CachePaths& paths, const Job& job, int rank) {
  std::error_code ignored;
  if (fs::exists(paths.unfinished(), ignored) && read_text(paths.unfinished()) == job.marker) {
    return;
  }
  throw UsageError("rank " + std::to_string(rank) + " does not see what rank 0 made in " +
                   paths.root.string() +
                   "; give all ranks the same folder on a file system they share");
}

std::vector<NamedPart> all_parts(const CachePaths& paths, const Job& job) {
  std::vector<NamedPart> parts;
  for (const ShardPlan& shard : job.shards) {
    std::string name = shard_name(job.sources[shard.source], shard);
    auto part = read_part(paths, name, job.key);
    if (!part) {
      throw Error("what a rank made of shard " + name + " cannot be seen by rank 0 in " +
                  paths.root.string() +
                  "; give all ranks the same folder on a file system they share");
    }
    parts.push_back({std::move(name), *std::move(part)});
  }
  return parts;
}

// A cache without images serves nobody, and its cause is one the user wants to hear of.
void require_an_image(const CachePaths& paths, const std::vector<NamedPart>& parts) {
  std::uint64_t inputs = 0;
  for (const NamedPart& named : parts) {
    if (named.part.size.rows > 0) return;
    inputs += named.part.inputs();
  }
  if (inputs == 0) return;
  std::optional<LedgerRow> first;
  for_each_piece(paths, parts.front().name, [&](const std::string& ledger, const auto&) {
    if (!first) first = parse_ledger(ledger, "a part").front();
  });
  throw RefusedError(
      "none of the " + std::to_string(inputs) + " inputs could be read: the first, " + first->name +
      ", is " + std::string(fate_name(first->fate)) + " (" + first->reason + "); nothing was kept");
}

void check_stop(const StopRequested& stop, const fs::path& out) {
  if (!stop || !stop()) return;
  throw StoppedError("stopped before the end of the ingest into " + out.string() +
                     "; run the same command again to go on after the shards that are finished");
}

bool is_nothing_to_do(const Job& job) {
  if (!job.retry) return job.sources.empty();
  return job.shards.empty() && to_json(job.manifest) == to_json(job.base->manifest());
}

// Room for what rank 0, if it is alone, or else all of them have to do.
void make_folders(Workspace& workspace, const Job& job, const ChunkMaker& maker,
                  std::span<const ChunkPlan> to_do, const IngestOptions& options,
                  const comm::Communicator& comm) {
  const CachePaths& paths = workspace.paths();
  make_directories(parts_folder(paths));
  if (options.store == Store::kNone) return;
  const bool in_memory = job.base ? fs::is_symlink(paths.shards()) : options.memory;
  if (in_memory && comm.local_size() != comm.size()) {
    throw UsageError(
        "an ingest into memory runs on one machine; leave out --memory, or start all ranks on one");
  }
  if (in_memory) check_memory(estimate_bytes(maker, job.sources, to_do, options));
  if (job.base && !job.base->manifest().shards.empty()) return;
  if (in_memory) {
    workspace.make_shards_folder_in_memory(job.key);
  } else {
    workspace.make_shards_folder();
  }
}

std::uint64_t inputs_of(std::span<const ChunkPlan> chunks) {
  std::uint64_t inputs = 0;
  for (const ChunkPlan& chunk : chunks) inputs += chunk.end - chunk.begin;
  return inputs;
}

// Of a retry: asks for the inputs of shards that are only made anew if one of them can be read now.
StageTimes look(const CachePaths& paths, const Job& job, Gates& gates, const Share& share,
                IngestOptions options, const ProgressSink& progress,
                const std::function<void()>& check) {
  options.store = Store::kNone;
  options.resize = {};
  options.variants = {};
  std::vector<ChunkPlan> chunks;
  std::ranges::copy_if(share.chunks, std::back_inserter(chunks),
                       [&](const ChunkPlan& chunk) { return !job.retry->made_anew[chunk.shard]; });
  const ChunkMaker maker(job.sources, options, gates);
  ShardSink sink(paths, job.key);
  const RunPlan plan{.sources = job.sources,
                     .shards = job.shards,
                     .chunks = chunks,
                     .store = Store::kNone,
                     .threads = options.threads,
                     .readers = options.readers};
  return run_chunks(plan, maker, gates, sink, share.so_far, progress, check);
}

// The last act: puts what all ranks made together, and the manifest over it.
void finish(Job& job, Workspace& workspace, const dedup::Fingerprints& no_rows,
            IngestResult& result) {
  const CachePaths& paths = workspace.paths();
  const std::vector<NamedPart> parts = all_parts(paths, job);
  if (job.retry) {
    result.remarks = assemble_again(parts, no_rows, *job.base, paths, job.manifest);
    for (const NamedPart& named : parts) result.recovered += named.part.size.rows;
  } else {
    try {
      require_an_image(paths, parts);
    } catch (const RefusedError&) {
      workspace.abandon();
      throw;
    }
    for (const NamedPart& named : parts) result.remarks.add(named.part.remarks);
    assemble(parts, no_rows, job.base.get(), paths, job.manifest);
  }
  fsync_directory(paths.root);
  write_file_durably(paths.manifest(), to_json(job.manifest));
  settle(paths, job.manifest);
  if (job.retry) workspace.keep_only(job.manifest);
  workspace.finish();
  result.manifest = std::move(job.manifest);
  result.digest = digest(result.manifest);
}

// What rank 0 knows, on all of them.
void tell_all(IngestResult& result, comm::Communicator& comm) {
  const std::string text =
      comm::broadcast_text(comm, comm.rank() == 0 ? to_json(result.manifest) : "");
  if (comm.rank() != 0) result.manifest = parse_manifest(text, "what rank 0 sent");
  result.digest = comm::broadcast_text(comm, result.digest);
  result.recovered = std::stoull(comm::broadcast_text(comm, std::to_string(result.recovered)));
}

}  // namespace

IngestResult result_of(const Cache& cache) {
  IngestResult result;
  result.manifest = cache.manifest();
  result.digest = cache.digest();
  cache.for_each_remark([&](const LedgerRow& row) { result.remarks.add(row); });
  return result;
}

IngestOptions options_of(const Manifest& manifest) {
  const CacheSettings& settings = manifest.settings;
  const auto store = std::ranges::find(kStores, settings.store, store_name);
  if (store == kStores.end()) {
    throw FormatError("the manifest does not say how the cache was made; ingest again");
  }
  IngestOptions options;
  options.store = *store;
  options.hashes.clear();
  for (const std::string& hash : settings.hashes) {
    options.hashes.push_back(hash.substr(0, hash.rfind(':')));
  }
  options.shard_bytes = settings.shard_bytes;
  options.decode = settings.decode;
  options.resize = settings.resize;
  options.variants = variant_settings(settings.variants);
  return options;
}

namespace {

void check_variants(const IngestOptions& options) {
  const VariantSettings& v = options.variants;
  if (v == VariantSettings{}) return;
  if (v.copies < 1 || v.height_px < 1 || v.width_px < 1) {
    throw UsageError("what is augmented needs at least 1 copy of at least 1 x 1 px, not " +
                     std::to_string(v.copies) + " of " + std::to_string(v.width_px) + " x " +
                     std::to_string(v.height_px));
  }
  if (v.recipe == Recipe::kNone && v.copies > 1) {
    throw UsageError("without a recipe all " + std::to_string(v.copies) +
                     " copies would be the same; ask for one, or for a recipe");
  }
  if (v.recipe != Recipe::kNone && v.copies == 1) {
    throw UsageError(
        "of one copy every epoch would see the same crop; ask for 2 or more, as many "
        "as there is room for");
  }
  if (mixes(v.recipe)) {
    throw UsageError(
        "mixup and cutmix mix the samples of a batch, which there is none of before training; "
        "leave them out here and give them to winnow train --augment");
  }
  if (options.store == Store::kNone) {
    throw UsageError("nothing is stored, so nothing can be augmented; leave out one of the two");
  }
  if (options.store != Store::kRaw) {
    throw UsageError("what is augmented is stored as pixels; leave out the original bytes");
  }
  if (options.resize.short_side_px > 0) {
    throw UsageError("what is augmented is stored in the size it says; leave out the resize");
  }
  const auto side = [](int px) { return static_cast<std::uint64_t>(px); };
  constexpr std::uint64_t kMostCopies = 65'535;
  if (side(v.copies) > kMostCopies || side(v.height_px) > kMaxInputBytes / 3 / side(v.width_px) ||
      variant_bytes(v) > kMaxInputBytes) {
    throw UsageError(std::to_string(v.copies) + " copies of " + std::to_string(v.width_px) + " x " +
                     std::to_string(v.height_px) + " px do not fit a record, which has at most " +
                     std::to_string(kMostCopies) + " of " + in_mebibytes(kMaxInputBytes) +
                     " together; ask for fewer or smaller ones");
  }
}

}  // namespace

void check_options(const IngestOptions& options) {
  check_variants(options);
  const bool takes_all_pixels = options.store == Store::kRaw || options.resize.short_side_px > 0;
  if (dedup::common_scale(options.hashes) > 1 && takes_all_pixels) {
    throw UsageError("with the hash " + options.hashes.front() +
                     " pictures are not decoded whole, and what is to be stored is made of all "
                     "pixels; store the original bytes or nothing, or leave out the scale");
  }
  if (options.shard_bytes == 0) throw UsageError("shards must hold more than 0 bytes");
  if (options.memory_bytes > 0 && options.memory_bytes < 1u << 20) {
    throw UsageError("an ingest needs at least 1 MiB of memory for bytes in flight");
  }
  if (options.resize.short_side_px < 0) throw UsageError("images cannot be made smaller than 1 px");
  if (options.resize.short_side_px > 0 && options.store == Store::kNone) {
    throw UsageError("nothing is stored, so nothing can be resized; leave out one of the two");
  }
  if (options.resize.quality < 1 || options.resize.quality > 100) {
    throw UsageError("the quality of JPEGs is 1 to 100, not " +
                     std::to_string(options.resize.quality));
  }
  if (options.decode.max_scans < 1) throw UsageError("JPEGs have one scan at least; allow more");
  if (options.threads < 0) throw UsageError("the number of threads must not be negative");
  if (options.readers < 1) throw UsageError("an ingest needs at least one thread that reads");
  if (options.retry && (options.into || options.left_out != nullptr)) {
    throw UsageError(
        "what could not be read is asked for again by itself; add to the cache or "
        "leave duplicates out of a new one in another ingest");
  }
  if (options.into && options.left_out != nullptr) {
    throw UsageError("duplicates are left out of new caches only; add to this one and compact it");
  }
}

bool is_of(const Manifest& manifest, std::span<const IngestSource> sources,
           const IngestOptions& options) {
  Gates gates(memory_bytes(options));
  const ChunkMaker maker({}, options, gates);
  const auto same = [](const SourceInfo& info, const IngestSource& source) {
    return is_same(info, describe(source).info);
  };
  return manifest.settings == settings_of(options, maker.empty_fingerprints()) &&
         std::ranges::equal(manifest.sources, sources, same);
}

IngestResult ingest(std::span<const IngestSource> sources, const fs::path& out,
                    const IngestOptions& options, const ProgressSink& progress,
                    comm::Communicator& comm) {
  const auto started = Clock::now();
  Job job;
  std::optional<Gates> gates;
  std::optional<ChunkMaker> maker;
  on_all(comm, [&] {
    check_options(options);
    gates.emplace(memory_bytes(options));
    job = plan_job(sources, out, options, ChunkMaker({}, options, *gates).empty_fingerprints());
    maker.emplace(job.sources, options, *gates);
  });
  const dedup::Fingerprints no_rows = maker->empty_fingerprints();
  comm::require_agreement(comm, {{"sources and options", job.key}});

  const CachePaths paths{out};
  IngestResult result;
  std::optional<Workspace> workspace;
  on_root(comm, [&] {
    if (job.base) {
      workspace = Workspace::reopen(out, job.base->manifest(), job.marker);
    } else {
      workspace = Workspace::claim(out, job.marker);
    }
  });
  const bool complete =
      !comm::broadcast_text(
           comm, workspace && (workspace->complete() || is_nothing_to_do(job)) ? "complete" : "")
           .empty();
  if (complete) {
    on_root(comm, [&] {
      workspace->finish();
      result = result_of(Cache::open(out));
      result.sources_there = job.sources_there;
    });
    tell_all(result, comm);
    return result;
  }

  const std::vector<ChunkPlan> chunks =
      plan_chunks(job.sources, job.shards, options.store, options.variants);
  Share mine;
  on_all(comm, [&] {
    check_workspace(paths, job, comm.rank());
    mine = take_share(paths, job, chunks, comm);
  });
  const auto check = [&] { check_stop(options.stop, out); };
  if (job.retry) {
    result.retried = job.retry->ids.size();
    on_root(comm, [&] { make_directories(parts_folder(paths)); });
    on_all(comm, [&] {
      result.times = look(paths, job, *gates, mine, options, progress, check);
      mine = take_share(paths, job, chunks, comm, /*asked=*/true);
    });
  }
  on_root(comm, [&] {
    try {
      const std::span<const ChunkPlan> all = comm.size() == 1 ? mine.chunks : chunks;
      make_folders(*workspace, job, *maker, all, options, comm);
    } catch (const Error&) {
      if (comm.size() == 1 && mine.parts.empty()) workspace->abandon();
      throw;
    }
  });
  std::array<std::uint64_t, 1> done{inputs_of(mine.chunks)};
  comm.all_reduce(done);
  result.inputs_done = job.retry ? result.retried : done[0];
  result.sources_there = job.sources_there;
  on_all(comm, [&] {
    ShardSink sink(paths, job.key, /*beside=*/job.retry.has_value());
    const RunPlan plan{.sources = job.sources,
                       .shards = job.shards,
                       .chunks = mine.chunks,
                       .store = options.store,
                       .threads = options.threads,
                       .readers = options.readers};
    result.times += run_chunks(plan, *maker, *gates, sink, mine.so_far, progress, check);
  });
  on_root(comm, [&] { finish(job, *workspace, no_rows, result); });
  tell_all(result, comm);
  result.seconds = std::chrono::duration<double>(Clock::now() - started).count();
  result.peak_in_flight_bytes = gates->meter.peak();
  return result;
}

IngestResult ingest(const Source& source, const fs::path& source_path, const fs::path& out,
                    const IngestOptions& options, const ProgressSink& progress) {
  const IngestSource one{&source, source_path};
  const std::unique_ptr<comm::Communicator> alone = comm::make_single();
  return ingest(std::span(&one, 1), out, options, progress, *alone);
}

}  // namespace winnow::pipeline
