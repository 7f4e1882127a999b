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

// An open source and its path.
struct IngestSource {
  const datasets::Source* source = nullptr;
  std::filesystem::path path;  // path of the source; its last part is the source's name
};

struct IngestResult {
  Manifest manifest;
  std::string digest;
  Remarks remarks;  // remarks on all inputs
  // Inputs processed by this run, without those of interrupted runs before.
  std::uint64_t inputs_done = 0;
  // Sources that the cache had already and that were not read again.
  std::uint64_t sources_there = 0;
  // Number of inputs that were retried, and how many of them are readable now.
  std::uint64_t retried = 0;
  std::uint64_t recovered = 0;
  StageTimes times;  // times of the stages on this rank
  double seconds = 0;
  std::uint64_t peak_in_flight_bytes = 0;
};

// Reads, decodes, fingerprints and stores every input of `sources`.
//
// Out       A new cache at `out`. With options.target.into: the inputs are appended to the cache
//           there, with the same bytes as if everything had been ingested at once.
// Complete  The manifest is written last. Without it, a cache is unfinished and never used. A cache
//           that is extended stays valid as it was until then; its shards never change.
// Bytes     The same for any number of threads and ranks, and after any interruption: the content
//           depends on sources and options only.
// Into      Sources already in the cache are skipped.
// Resume    An unfinished run continues after its finished shards if listings and options are the
//           same; shards with unreadable inputs are made again. Otherwise the unfinished run is
//           cleared.
// Refused   (UsageError) A finished cache without `into`; a known source that changed; other
//           settings than the cache's (options_of); a folder that winnow did not make; another run
//           at work.
// Inputs    Unreadable ones go to the ledger.
//
// Retry     With options.target.retry, only the inputs that the finished cache at `out` could not
//           read are read again. Settings must be the cache's, except that decode limits may have
//           been raised. The result has the same bytes as a fresh ingest of everything.
// - Shards in which an input is now readable, or whose end moves because a repaired file has
//   another size, are rewritten from existing records and new inputs. The cache stays as it was
//   until all are done.
// - `sources` must be some of the cache's, unchanged except for unreadable inputs. Others are
//   refused (UsageError), and so is a cache from which duplicates were left out.
//
// Ranks     All must see the same sources and the same `out`. Each makes whole shards. All return
//           the same manifest, digest and counts; only rank 0 returns remarks.
// Errors    SystemError: disk or tmpfs full. UsageError: shards cannot fit in memory (before any is
//           written). RefusedError: no input was readable; what existed before remains.
//           StoppedError: a stop was requested; says what is kept. What a source and `progress`
//           throw.
IngestResult ingest(std::span<const IngestSource> sources, const std::filesystem::path& out,
                    const IngestOptions& options, const ProgressSink& progress,
                    comm::Communicator& comm);
// The result for a cache that was finished before; it has no times.
IngestResult result_of(const Cache& cache);
// Ingests a single source on one rank.
IngestResult ingest(const datasets::Source& source, const std::filesystem::path& source_path,
                    const std::filesystem::path& out, const IngestOptions& options,
                    const ProgressSink& progress);

// Whether a cache consists of exactly these sources and was made with these options. For inputs
// left out as duplicates, only the settings of the decision are compared.
bool is_of(const Manifest& manifest, std::span<const IngestSource> sources,
           const IngestOptions& options);

// Removes a cache, finished or not, and its shards on tmpfs. Other files in the folder stay, and so
// does the folder.
// Errors  UsageError if it is not a cache, an ingest is running there, or a process has it open
void remove_cache(const std::filesystem::path& root);

}  // namespace winnow::pipeline
