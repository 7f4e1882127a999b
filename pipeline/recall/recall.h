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
  std::size_t images = 200;  // number of pictures, drawn at random from the cache
  std::uint64_t seed = 0;
  int threads = 0;  // threads of TBB; 0: TBB's default
};

// Hamming distances, by one hash, between pictures and their copies after one edit.
struct EditRecall {
  std::string family;
  std::string name;
  // Number of pictures whose copy is at most d bits away: within[d].
  std::vector<std::uint64_t> within;

  // Recall: share of the pictures whose copy is within the threshold.
  double at(int threshold) const;
};

// Measures recall for each hash and each of common_edits(), in order, on the same pictures:
// decodable ones of quality above 0. Deterministic by cache, number of images and seed.
// Errors  UsageError for a cache with fingerprints only.
std::vector<std::vector<EditRecall>> measure_recall(const Cache& cache,
                                                    std::span<const dedup::HashKind> hashes,
                                                    const RecallOptions& options,
                                                    const ProgressSink& progress);

// The share of duplicates that a threshold is expected to find. Estimated by the copies with
// several edits combined, which are like pictures that were shared on the web.
double expected_recall(std::span<const EditRecall> edits, int threshold);

}  // namespace winnow::pipeline
