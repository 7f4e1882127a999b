#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "common/progress.h"
#include "common/stop.h"
#include "pipeline/store/cache.h"

namespace winnow::pipeline {

struct CompactOptions {
  std::string selection;
  int threads = 0;  // threads of TBB; 0: TBB's default
  StopRequested stop;
};

struct CompactResult {
  Manifest manifest;
  std::string digest;
  std::uint64_t kept = 0;
  std::uint64_t removed = 0;
  // Samples written by this run; earlier, interrupted runs wrote the others.
  std::uint64_t kept_here = 0;
  double seconds = 0;
};

// Makes a cache at `out` with only the images that a selection keeps.
//
// Kept      Ids, inputs, sources, classes and listing hashes. A removed sample leaves a ledger row
//           with outcome `duplicate`.
// Records   Are copied and checked. Statistics are recomputed from the kept images (sums of pixels
//           as stored; of several variants, the first).
// Complete  The manifest is written last. An interrupted run continues after its finished shards.
// Bytes     The same for the same cache and selection, for any number of threads and after any
//           interruption.
// Input     Is only read. Its selections are not copied, because they refer to its digest.
// Errors    UsageError: no such selection; it keeps nothing or has weights; the cache has no
//           images; `out` exists (Workspace::claim) or lies in the cache. FormatError names the
//           sample with a damaged record. SystemError: disk full. StoppedError.
CompactResult compact(const Cache& cache, const std::filesystem::path& out,
                      const CompactOptions& options, const ProgressSink& progress = {});

}  // namespace winnow::pipeline
