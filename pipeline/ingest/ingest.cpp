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

// Estimates from inputs spread evenly over the listings.
struct Sampled {
  double pixels_per_byte = 1;  // bytes of pixels for each byte of input
  int channels = 1;            // maximum
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

// Upper estimate of the size of the shards with `chunks`.
std::uint64_t estimate_bytes(const ChunkMaker& maker, std::span<const PlacedSource> sources,
                             std::span<const ChunkPlan> chunks, const IngestOptions& options) {
  const VariantSettings& variants = options.variants;
  const Sampled sampled = options.store == Store::kRaw ? sample(maker, sources) : Sampled{};
  // The stored size of an input.
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
      const double page_rest = std::min(4096.0, payload / 50);  // rest of the last page of a value
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

// Known to all ranks alike before anything is read.
struct Job {
  std::unique_ptr<const Cache> base;  // the cache being extended; null: none
  Manifest manifest;                  // final, except for what depends on the inputs
  std::vector<PlacedSource> sources;
  std::vector<ShardPlan> shards;
  std::uint64_t sources_there = 0;
  std::optional<RetryPlan> retry;  // determines sources and shards
  std::string key;                 // identifies listings and options
  std::string marker;              // marker of the workspace
};

// Removes sources that `base` already has.
void remove_those_there(std::vector<DescribedSource>& sources, const Manifest& base,
                        const fs::path& out) {
  std::erase_if(sources, [&](const DescribedSource& source) {
    const auto same = [&](const SourceInfo& old) { return is_same(old, source.info); };
    const auto same_name = [&](const SourceInfo& old) { return old.name == source.info.name; };
    if (std::ranges::any_of(base.sources, same)) return true;
    if (std::ranges::any_of(base.sources, same_name)) {
      throw UsageError(
          out.string() + " already has a source called '" + source.info.name +
          "' with other files, and ingested sources must not change; add new files as a source of "
          "another name (a link to the folder will do), or ingest everything into a new cache");
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
                     ", not " + to_text(settings) + "; add to it with the same settings");
  }
}

// A hash that identifies the decisions about inputs.
std::string key_of(const dedup::Selection& decisions) {
  Xxh3Stream stream;
  stream.update(std::as_bytes(std::span(decisions.ids)));
  stream.update(std::as_bytes(std::span(decisions.kept)));
  stream.update(std::as_bytes(std::span(decisions.distances)));
  stream.update(std::as_bytes(std::span(decisions.rules)));
  return to_hex(stream.digest());
}

// The part of the ids (ascending) that belongs to the source.
std::span<const SampleId> ids_in(std::span<const SampleId> ids, const PlacedSource& source) {
  const auto begin = std::ranges::lower_bound(ids, source.id_of(0));
  const auto end = std::lower_bound(begin, ids.end(), source.id_of(source.info.inputs));
  return {begin, end};
}

// The settings that a cache must have for a retry with these: limits may have been raised since,
// which does not affect inputs that were readable.
CacheSettings settings_before(const IngestOptions& options, const dedup::Fingerprints& columns,
                              const Manifest& base) {
  const DecodeSettings old = options_of(base).decode;
  IngestOptions before = options;
  before.decode.max_pixels = std::min(old.max_pixels, options.decode.max_pixels);
  before.decode.max_scans = std::min(old.max_scans, options.decode.max_scans);
  return settings_of(before, columns);
}

// Takes everything that is not retried from a finished cache.
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
  if (options.target.retry) plan_retry_of(job, std::move(fresh), out, options, no_rows);
  if (options.target.into) {
    job.base = std::make_unique<const Cache>(Cache::open(out));
    job.manifest = job.base->manifest();
    check_base(job.manifest, settings, out);
    remove_those_there(fresh, job.manifest, out);
    job.sources_there = sources.size() - fresh.size();
  }
  if (!options.target.retry) {
    job.sources = place_sources(std::move(fresh), job.manifest);
    job.shards = plan_shards(job.sources, options.shard_bytes);
  }
  std::string content = job.base ? job.base->digest() : "";
  if (options.target.left_out != nullptr) {
    const dedup::Selection& decisions = options.target.left_out->decisions;
    for (PlacedSource& source : job.sources) source.left_out = ids_in(decisions.ids, source);
    content += key_of(decisions);
  }
  job.manifest.store = store_name(options.store);
  // The base's settings may record what was left out.
  if (!job.base) job.manifest.settings = settings;
  job.manifest.tables.hashes = hash_names(no_rows);
  for (const PlacedSource& source : job.sources) {
    content += source.info.name + '\0' + source.info.listing_hash;
  }
  if (options.target.retry) content += "retry";
  job.key = to_hex(xxh3_128(
      as_bytes(content + to_text(settings) + (options.target.memory ? "memory" : "disk"))));
  job.marker =
      "winnow is ingesting here, or was stopped while it did: run the same ingest again to "
      "go on.\n" +
      job.key + "\n";
  return job;
}

// The work of one rank.
struct Share {
  std::map<std::size_t, Part> parts;  // parts of its shards that earlier runs finished
  std::vector<ChunkPlan> chunks;      // for its other shards
  Progress so_far;
};

// Whether a part shows that a shard is finished. In a retry, a part without a file means that the
// shard was only probed, which suffices if nothing became readable. Inputs that the system could
// not deliver are tried again by each run, unless this one already has (`asked`).
bool is_done(const Part& part, const Job& job, std::size_t shard, bool asked) {
  if (part.unreadable() > 0 && !asked) return false;
  const bool is_looked_at =
      job.retry && job.manifest.store != store_name(Store::kNone) && part.info.file.empty();
  return !is_looked_at || (part.size.rows == 0 && !job.retry->made_anew[shard]);
}

// Assigns whole shards to ranks. Each rank only looks for its own parts, because a network file
// system may go on reporting a file as missing once it has. Unusable parts are removed.
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

// Checks that a rank other than 0 sees the workspace that rank 0 made.
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
      throw Error("the output of a rank for shard " + name + " cannot be seen by rank 0 in " +
                  paths.root.string() +
                  "; give all ranks the same folder on a file system they share");
    }
    parts.push_back({std::move(name), *std::move(part)});
  }
  return parts;
}

// A cache without images is useless, and the user needs to know why.
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
  const std::string which =
      inputs == 1 ? "the only input could not be read: "
                  : "none of the " + std::to_string(inputs) + " inputs could be read: the first, ";
  throw RefusedError(which + first->name + (inputs == 1 ? " is " : ", is ") +
                     std::string(fate_name(first->fate)) + " (" + first->reason +
                     "); nothing was kept");
}

bool is_nothing_to_do(const Job& job) {
  if (!job.retry) return job.sources.empty();
  return job.shards.empty() && to_json(job.manifest) == to_json(job.base->manifest());
}

// Checks space for the work of rank 0 if it is alone, or else of all ranks.
void make_folders(Workspace& workspace, const Job& job, const ChunkMaker& maker,
                  std::span<const ChunkPlan> to_do, const IngestOptions& options,
                  const comm::Communicator& comm) {
  const CachePaths& paths = workspace.paths();
  make_directories(parts_folder(paths));
  if (options.store == Store::kNone) return;
  const bool in_memory = job.base ? fs::is_symlink(paths.shards()) : options.target.memory;
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

// The last step: assembles what all ranks made, then writes the manifest.
void finish(Job& job, Workspace& workspace, const dedup::Fingerprints& no_rows,
            IngestResult& result) {
  const CachePaths& paths = workspace.paths();
  const std::vector<NamedPart> parts = all_parts(paths, job);
  if (job.retry) {
    result.remarks = assemble_again(parts, no_rows, *job.base, paths, job.manifest);
    for (const NamedPart& named : parts) {
      result.recovered += named.part.size.rows;
      result.remarks.oriented += named.part.remarks.oriented;
      result.remarks.transparent += named.part.remarks.transparent;
    }
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
  if (!job.base) write_file_durably(paths.alpha(), "");
  fsync_directory(paths.root);
  write_file_durably(paths.manifest(), to_json(job.manifest));
  settle(paths, job.manifest);
  if (job.retry) workspace.keep_only(job.manifest);
  workspace.finish();
  result.manifest = std::move(job.manifest);
  result.digest = digest(result.manifest);
}

// Copies rank 0's result to all ranks.
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

bool is_of(const Manifest& manifest, std::span<const IngestSource> sources,
           const IngestOptions& options) {
  Gates gates(bytes_in_flight(options.work));
  const ChunkMaker maker({}, options, gates);
  const auto same = [](const SourceInfo& info, const IngestSource& source) {
    return is_same(info, describe(source).info);
  };
  return manifest.settings == settings_of(options, maker.empty_fingerprints()) &&
         std::ranges::equal(manifest.sources, sources, same);
}

namespace {

// One ingest on one rank.
class Ingest {
 public:
  Ingest(const fs::path& out, const IngestOptions& options, const ProgressSink& progress,
         comm::Communicator& comm)
      : paths_{out}, options_(options), progress_(progress), comm_(comm) {}

  IngestResult run(std::span<const IngestSource> sources) {
    const auto started = Clock::now();
    plan(sources);
    claim();
    if (is_complete()) return existing_result();
    share_out();
    if (job_.retry) look();
    make_room();
    write();
    comm::on_root(comm_, [&] { finish(job_, *workspace_, maker_->empty_fingerprints(), result_); });
    tell_all(result_, comm_);
    result_.seconds = std::chrono::duration<double>(Clock::now() - started).count();
    result_.peak_in_flight_bytes = gates_->meter.peak();
    return std::move(result_);
  }

 private:
  void plan(std::span<const IngestSource> sources) {
    comm::on_all(comm_, [&] {
      check_options(options_);
      gates_.emplace(bytes_in_flight(options_.work));
      const dedup::Fingerprints no_rows = ChunkMaker({}, options_, *gates_).empty_fingerprints();
      job_ = plan_job(sources, paths_.root, options_, no_rows);
      maker_.emplace(job_.sources, options_, *gates_);
    });
    comm::require_agreement(comm_, {{"sources and options", job_.key}});
    result_.sources_there = job_.sources_there;
  }

  void claim() {
    comm::on_root(comm_, [&] {
      workspace_ = job_.base ? Workspace::reopen(paths_.root, job_.base->manifest(), job_.marker)
                             : Workspace::claim(paths_.root, job_.marker);
    });
  }

  bool is_complete() {
    const bool complete = workspace_ && (workspace_->complete() || is_nothing_to_do(job_));
    return !comm::broadcast_text(comm_, complete ? "complete" : "").empty();
  }

  IngestResult existing_result() {
    comm::on_root(comm_, [&] {
      workspace_->finish();
      result_ = result_of(Cache::open(paths_.root));
      result_.sources_there = job_.sources_there;
    });
    tell_all(result_, comm_);
    return std::move(result_);
  }

  void share_out() {
    chunks_ = plan_chunks(job_.sources, job_.shards, options_.store, options_.variants);
    comm::on_all(comm_, [&] {
      check_workspace(paths_, job_, comm_.rank());
      mine_ = take_share(paths_, job_, chunks_, comm_);
    });
  }

  // In a retry: reads the inputs of shards that are only rewritten if one of them is readable now.
  void look() {
    result_.retried = job_.retry->ids.size();
    comm::on_root(comm_, [&] { make_directories(parts_folder(paths_)); });
    comm::on_all(comm_, [&] {
      IngestOptions options = options_;
      options.store = Store::kNone;
      options.resize = {};
      options.variants = {};
      std::vector<ChunkPlan> chunks;
      std::ranges::copy_if(mine_.chunks, std::back_inserter(chunks), [&](const ChunkPlan& chunk) {
        return !job_.retry->made_anew[chunk.shard];
      });
      ShardSink sink(paths_, job_.key);
      run_all(ChunkMaker(job_.sources, options, *gates_), chunks, Store::kNone, sink);
      mine_ = take_share(paths_, job_, chunks_, comm_, /*asked=*/true);
    });
  }

  void make_room() {
    comm::on_root(comm_, [&] {
      try {
        const std::span<const ChunkPlan> all = comm_.size() == 1 ? mine_.chunks : chunks_;
        make_folders(*workspace_, job_, *maker_, all, options_, comm_);
      } catch (const Error&) {
        if (comm_.size() == 1 && mine_.parts.empty()) workspace_->abandon();
        throw;
      }
    });
  }

  void write() {
    std::array<std::uint64_t, 1> done{inputs_of(mine_.chunks)};
    comm_.all_reduce(done);
    result_.inputs_done = job_.retry ? result_.retried : done[0];
    comm::on_all(comm_, [&] {
      ShardSink sink(paths_, job_.key, /*beside=*/job_.retry.has_value());
      run_all(*maker_, mine_.chunks, options_.store, sink);
    });
  }

  void run_all(const ChunkMaker& maker, std::span<const ChunkPlan> chunks, Store store,
               ShardSink& sink) {
    const RunPlan plan{.sources = job_.sources,
                       .shards = job_.shards,
                       .chunks = chunks,
                       .store = store,
                       .threads = options_.work.threads,
                       .readers = options_.work.readers};
    const auto check = [this] {
      if (options_.work.stop && options_.work.stop()) throw StoppedError("stopped");
    };
    try {
      result_.times += run_chunks(plan, maker, *gates_, sink, {mine_.so_far, progress_}, check);
    } catch (const StoppedError&) {
      sink.finish();
      throw StoppedError(kept_in_words(mine_.parts.size() + sink.finished()));
    }
  }

  // A shard is always rewritten from the beginning; otherwise its bytes would differ.
  std::string kept_in_words(std::size_t finished) const {
    const auto ranks = static_cast<std::size_t>(comm_.size());
    const std::size_t shards =
        (job_.shards.size() + ranks - 1 - static_cast<std::size_t>(comm_.rank())) / ranks;
    std::string text =
        "stopped during the ingest into " + paths_.root.string() + ": " + std::to_string(finished) +
        " of " + std::to_string(shards) + (shards == 1 ? " shard is" : " shards are") +
        " finished and kept, the others start again; run the same command again to continue";
    if (finished < shards && shards < 4) {
      text += " (shards are cut at " + in_mebibytes(options_.shard_bytes) +
              " of input: smaller shards keep more)";
    }
    return text;
  }

  const CachePaths paths_;
  const IngestOptions& options_;
  const ProgressSink& progress_;
  comm::Communicator& comm_;
  Job job_;
  std::optional<Gates> gates_;
  std::optional<ChunkMaker> maker_;
  std::optional<Workspace> workspace_;  // on rank 0
  std::vector<ChunkPlan> chunks_;       // for all ranks
  Share mine_;
  IngestResult result_;
};

}  // namespace

IngestResult ingest(std::span<const IngestSource> sources, const fs::path& out,
                    const IngestOptions& options, const ProgressSink& progress,
                    comm::Communicator& comm) {
  return Ingest(out, options, progress, comm).run(sources);
}

IngestResult ingest(const Source& source, const fs::path& source_path, const fs::path& out,
                    const IngestOptions& options, const ProgressSink& progress) {
  const IngestSource one{&source, source_path};
  const std::unique_ptr<comm::Communicator> alone = comm::make_single();
  return ingest(std::span(&one, 1), out, options, progress, *alone);
}

}  // namespace winnow::pipeline
