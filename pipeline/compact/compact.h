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
  int threads = 0;  // 0: what TBB has
  StopRequested stop;
};

struct CompactResult {
  Manifest manifest;
  std::string digest;
  std::uint64_t kept = 0;
  std::uint64_t removed = 0;
  std::uint64_t kept_here =
      0;  // written by this run; the others by those before, which were stopped
  double seconds = 0;
};

// Makes a cache at `out` of what the selection keeps, as it would be had the rest never been
// stored: ids, inputs, sources, classes and listing hashes stay; of a sample that is removed a row
// in the ledger is left, of class duplicate. Records are copied, each checked; statistics are those
// of what is kept, counted anew (sums of pixels of what is stored: of several variants, the first).
// The manifest is written last. The same cache and selection give the same bytes, for any number of
// threads, with or without interruptions, after which it goes on after the shards that were
// finished. The cache it is made from is only read, and its selections stay behind: they are for
// its digest.
//
// Throws UsageError when there is no such selection, it keeps nothing or gives weights, the cache
// holds no images, or `out` is taken (see Workspace::claim) or lies in the cache; FormatError
// naming the sample whose record is damaged; SystemError when the disk is full; StoppedError.
CompactResult compact(const Cache& cache, const std::filesystem::path& out,
                      const CompactOptions& options, const ProgressSink& progress = {});

}  // namespace winnow::pipeline
