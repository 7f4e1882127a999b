#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "common/comm/communicator.h"
#include "common/progress.h"
#include "datasets/source.h"
#include "pipeline/ingest/options.h"
#include "pipeline/ingest/remarks.h"
#include "pipeline/ingest/stages.h"
#include "pipeline/store/manifest.h"

namespace winnow::pipeline {

class Cache;

// A source that is open, and what it is called.
struct IngestSource {
  const datasets::Source* source = nullptr;
  std::filesystem::path path;  // its last part is the name
};

struct IngestResult {
  Manifest manifest;
  std::string digest;
  Remarks remarks;                  // on all inputs
  std::uint64_t inputs_done = 0;    // by this run; the others by those before
  std::uint64_t sources_there = 0;  // were in the cache already and are not read again
  std::uint64_t retried = 0;        // inputs asked for again, and those of them that could be read
  std::uint64_t recovered = 0;
  StageTimes times;  // of this rank
  double seconds = 0;
  std::uint64_t peak_in_flight_bytes = 0;
};

// Reads, decodes, fingerprints and stores every input of `sources` into a new cache at `out`, or
// adds them behind what the cache there holds (`options.target.into`): which is the same as if all
// had been ingested at once, byte for byte. The manifest is written last: a cache that was not
// finished is never taken for one, and one that is added to stays what it was until then, its
// shards for ever. Sources it has already are left out; one of the same name that has changed is
// refused (UsageError), as are settings other than the cache's (options_of). What an unfinished run
// left at `out` is gone on with after its finished shards, where listings and options are the same
// (shards with unreadable inputs are done again), and cleared otherwise. A finished cache there is
// refused without `target.into` (UsageError), as is anything that is not ours, or another run at
// work. The content depends on the sources and options alone: same bytes for any number of threads
// and ranks, with or without interruptions. Unreadable inputs go to the ledger.
//
// With `options.target.retry` the finished cache at `out` is asked again for the inputs it could
// not read, and nothing else is read, for other reasons than limits that were raised since: the
// result is what ingesting all anew would give, byte for byte. Shards in which an input can be read
// now, and those that end elsewhere because a repaired file has another size, are made anew, of the
// records there are and the inputs that are new; the cache stays what it was until all are there.
// Sources are some of the cache's, as they were but for inputs that could not be read; others are
// refused (UsageError), and so is a cache that duplicates were left out of.
//
// On several ranks, which must see the same sources and the same `out`, each takes whole shards;
// all return the same manifest, digest and counts, rank 0 the remarks.
//
// Throws SystemError when the disk or tmpfs is full, UsageError when shards cannot fit in memory
// before any is written, RefusedError (and leaves what was there before) when no input at all could
// be read, StoppedError when it was asked to stop, saying what is kept, and what a source and
// `progress` throw.
IngestResult ingest(std::span<const IngestSource> sources, const std::filesystem::path& out,
                    const IngestOptions& options, const ProgressSink& progress,
                    comm::Communicator& comm);
// What it returns of a cache that was finished before, without a time.
IngestResult result_of(const Cache& cache);
// Of one source, alone.
IngestResult ingest(const datasets::Source& source, const std::filesystem::path& source_path,
                    const std::filesystem::path& out, const IngestOptions& options,
                    const ProgressSink& progress);

// Whether a cache is of just these sources and made with these options; of what is left out of it,
// only what decided that counts.
bool is_of(const Manifest& manifest, std::span<const IngestSource> sources,
           const IngestOptions& options);

// Removes a cache, finished or not, and, where its shards are on tmpfs, those. Other files in the
// directory stay, and the directory with them. UsageError if it is none, an ingest is at work there
// or somebody has it open.
void remove_cache(const std::filesystem::path& root);

}  // namespace winnow::pipeline
