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
  std::size_t images = 200;  // drawn at random from the cache
  std::uint64_t seed = 0;
  int threads = 0;  // TBB workers; 0: TBB's default
};

// Distances between pictures and one edit of them, by one hash.
struct EditRecall {
  std::string family;
  std::string name;
  std::vector<std::uint64_t> within;  // number of pictures at most 0, 1, ... bits away

  double at(int threshold) const;  // share of the pictures within the threshold
};

// For each hash and each of common_edits(), in order, on the same pictures: decodable ones of
// quality above 0. Depends on the cache, the number of images and the seed only.
// Errors  UsageError for a cache with fingerprints only.
std::vector<std::vector<EditRecall>> measure_recall(const Cache& cache,
                                                    std::span<const dedup::HashKind> hashes,
                                                    const RecallOptions& options,
                                                    const ProgressSink& progress);

// The share of duplicates that a threshold is expected to find, estimated by the copies with all
// edits at once, like copies that come back from the web.
double expected_recall(std::span<const EditRecall> edits, int threshold);

}  // namespace winnow::pipeline
