#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/progress.h"
#include "common/stop.h"
#include "datasets/source.h"
#include "pipeline/decode/settings.h"
#include "pipeline/ingest/remarks.h"
#include "pipeline/store/manifest.h"

namespace winnow::pipeline {

enum class Store { kOriginal, kRaw, kNone };  // the user's bytes, decoded pixels, fingerprints only

struct IngestOptions {
  Store store = Store::kOriginal;
  std::vector<std::string> hashes{"phash", "dhash"};
  bool memory = false;                     // shards on tmpfs, the cache holds a link to them
  std::uint64_t shard_bytes = 256u << 20;  // input bytes a shard is cut at
  std::uint64_t memory_bytes = 1u << 30;   // bound on bytes in flight
  DecodeSettings decode;                   // images it refuses are booked as too large
  int threads = 0;                         // TBB workers; 0: what TBB has
  StopRequested stop;                      // asked before each input
};

struct IngestResult {
  Manifest manifest;
  std::string digest;
  Remarks remarks;                // on all inputs
  std::uint64_t inputs_done = 0;  // by this run; the others by those before, which were stopped
  double seconds = 0;
  std::uint64_t peak_in_flight_bytes = 0;
};

// A shard's part of the inputs: positions [begin, end) of one source.
struct ShardRange {
  std::uint64_t begin;
  std::uint64_t end;
};

// Cuts a listing into shards by input bytes, before anything is opened. Pure.
std::vector<ShardRange> plan_shards(const datasets::Listing& entries, std::uint64_t shard_bytes);

// Reads, decodes, fingerprints and stores every input of `source` into a new cache at `out`; the
// manifest is written last, so a cache that was not finished is never taken for one. What an
// unfinished run left at `out` is gone on with after its finished shards, where listing and options
// are the same (shards with unreadable inputs are done again), and cleared otherwise. A
// finished cache there is refused (UsageError), as is anything that is not ours, or another run at
// work. The content depends on the source and options alone: same bytes for any number of threads,
// with or without interruptions. Unreadable inputs go to the ledger. Throws SystemError when the
// disk or tmpfs is full, UsageError when shards cannot fit in memory before any is written,
// RefusedError (and leaves nothing) when no input at all could be read, StoppedError when it was
// asked to stop, and what `source` and `progress` throw.
IngestResult ingest(const datasets::Source& source, const std::filesystem::path& source_path,
                    const std::filesystem::path& out, const IngestOptions& options,
                    const ProgressSink& progress);

// Removes a cache, finished or not, and, where its shards are on tmpfs, those. Other files in the
// directory stay, and the directory with them. UsageError if it is none or an ingest is at work
// there.
void remove_cache(const std::filesystem::path& root);

}  // namespace winnow::pipeline
