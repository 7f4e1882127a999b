#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "common/comm/communicator.h"
#include "common/progress.h"
#include "common/stop.h"
#include "datasets/source.h"
#include "dedup/selection.h"
#include "pipeline/augment/variants.h"
#include "pipeline/decode/settings.h"
#include "pipeline/ingest/remarks.h"
#include "pipeline/ingest/stages.h"
#include "pipeline/store/manifest.h"

namespace winnow::pipeline {

class Cache;

enum class Store { kOriginal, kRaw, kNone };  // the user's bytes, decoded pixels, fingerprints only

// A source that is open, and what it is called.
struct IngestSource {
  const datasets::Source* source = nullptr;
  std::filesystem::path path;  // its last part is the name
};

// Inputs that a new cache is to be without: others stand for them, as was decided of fingerprints.
struct LeftOut {
  dedup::Selection decisions;                // the rows of these inputs alone
  std::map<SampleId, std::string> warnings;  // what the decoder said of some of them
};

struct IngestOptions {
  Store store = Store::kOriginal;
  // All of one scale (find_hash). With one, what is encoded is not decoded whole: sharpness,
  // quality and sums of pixels are of the scale too, and pixel hashes those of the bytes.
  std::vector<std::string> hashes{"phash", "dhash"};
  bool memory = false;                     // shards on tmpfs, the cache holds a link to them
  std::uint64_t shard_bytes = 256u << 20;  // input bytes a shard is cut at
  std::uint64_t memory_bytes = 0;     // bound on bytes in flight; 0: 128 MiB, and as much a thread
  DecodeSettings decode;              // images it refuses are booked as too large
  ResizeSettings resize;              // of what is stored; fingerprints are of all pixels
  VariantSettings variants;           // likewise; with Store::kRaw and without a resize
  int threads = 0;                    // TBB workers; 0: what TBB has
  int readers = 64;                   // threads that read, at most; as many as are needed
  bool into = false;                  // add to the cache that is there
  bool retry = false;                 // ask again for what the cache that is there could not read
  const LeftOut* left_out = nullptr;  // not read and booked as duplicates; outlives the ingest
  StopRequested stop;                 // asked before each input
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
// adds them behind what the cache there holds (`options.into`): which is the same as if all had
// been ingested at once, byte for byte. The manifest is written last: a cache that was not finished
// is never taken for one, and one that is added to stays what it was until then, its shards for
// ever. Sources it has already are left out; one of the same name that has changed is refused
// (UsageError), as are settings other than the cache's (options_of). What an unfinished run left at
// `out` is gone on with after its finished shards, where listings and options are the same (shards
// with unreadable inputs are done again), and cleared otherwise. A finished cache there is refused
// without `into` (UsageError), as is anything that is not ours, or another run at work. The content
// depends on the sources and options alone: same bytes for any number of threads and ranks, with or
// without interruptions. Unreadable inputs go to the ledger.
//
// With `options.retry` the finished cache at `out` is asked again for the inputs it could not read,
// and nothing else is read, for other reasons than limits that were raised since: the result is
// what ingesting all anew would give, byte for byte. Shards in which an input can be read now, and
// those that end elsewhere because a repaired file has another size, are made anew, of the records
// there are and the inputs that are new; the cache stays what it was until all are there. Sources
// are some of the cache's, as they were but for inputs that could not be read; others are refused
// (UsageError), and so is a cache that duplicates were left out of.
//
// On several ranks, which must see the same sources and the same `out`, each takes whole shards;
// all return the same manifest, digest and counts, rank 0 the remarks.
//
// Throws SystemError when the disk or tmpfs is full, UsageError when shards cannot fit in memory
// before any is written, RefusedError (and leaves what was there before) when no input at all could
// be read, StoppedError when it was asked to stop, and what a source and `progress` throw.
IngestResult ingest(std::span<const IngestSource> sources, const std::filesystem::path& out,
                    const IngestOptions& options, const ProgressSink& progress,
                    comm::Communicator& comm);
// What it returns of a cache that was finished before, without a time.
IngestResult result_of(const Cache& cache);
// Of one source, alone.
IngestResult ingest(const datasets::Source& source, const std::filesystem::path& source_path,
                    const std::filesystem::path& out, const IngestOptions& options,
                    const ProgressSink& progress);

// The options that shape the content of a cache, as it was made with them; FormatError where they
// are not there.
IngestOptions options_of(const Manifest& manifest);

// Throws UsageError for options that ingest() refuses of any sources.
void check_options(const IngestOptions& options);

// Whether a cache is of just these sources and made with these options; of what is left out of it,
// only what decided that counts.
bool is_of(const Manifest& manifest, std::span<const IngestSource> sources,
           const IngestOptions& options);

// Removes a cache, finished or not, and, where its shards are on tmpfs, those. Other files in the
// directory stay, and the directory with them. UsageError if it is none, an ingest is at work there
// or somebody has it open.
void remove_cache(const std::filesystem::path& root);

}  // namespace winnow::pipeline
