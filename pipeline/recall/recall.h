#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/progress.h"
#include "dedup/hash/hashes.h"

namespace winnow::pipeline {

class Cache;

struct RecallOptions {
  std::size_t images = 200;  // of the cache, drawn at random
  std::uint64_t seed = 0;
  int threads = 0;  // TBB workers; 0: what TBB has
};

// How far edited pictures are from themselves by one hash.
struct EditRecall {
  std::string family;
  std::string name;
  std::vector<std::uint64_t> within;  // pictures at most 0, 1, ... bits away

  double at(int threshold) const;  // share of the pictures
};

// For each hash, each of common_edits(), in that order, of the same pictures: those of quality
// above 0 that can be decoded. Nothing but the cache, the number of images and the seed matters.
// UsageError for a cache of fingerprints only.
std::vector<std::vector<EditRecall>> measure_recall(const Cache& cache,
                                                    std::span<const dedup::HashKind> hashes,
                                                    const RecallOptions& options,
                                                    const ProgressSink& progress);

// The share of duplicates that a threshold is expected to find: of the copies to which everything
// happened at once, as to one that comes back from the web.
double expected_recall(std::span<const EditRecall> edits, int threshold);

}  // namespace winnow::pipeline
