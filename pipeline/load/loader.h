#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/sample.h"
#include "pipeline/augment/augment.h"
#include "pipeline/load/batch.h"

namespace winnow::pipeline {

class Cache;

// The samples of one split that a selection leaves, in id order.
struct SampleSet {
  std::vector<SampleId> ids;
  std::vector<float> weights;
  std::size_t size() const noexcept { return ids.size(); }
};

// `selection` may be empty: everything, weight 1. Only samples whose split is `split` and that were
// stored. Throws UsageError when nothing is left, FormatError as Cache does.
SampleSet select_samples(const Cache& cache, Split split, const std::string& selection);

// One sample to fetch, and the randomness of its augmentation.
struct Request {
  SampleId id = 0;
  std::uint32_t epoch = 0;
  float weight = 1;  // 0: padding; its pixels are zero, nothing is read
};

struct LoadOptions {
  Geometry geometry;
  Recipe recipe = Recipe::kNone;
  std::uint64_t seed = 0;
  int threads = 1;        // TBB workers
  int batches_ahead = 2;  // prepared while the caller computes
};

// Reads, decodes and augments, in parallel, one batch for `requests` (in their order). Safe from
// many threads. Throws Error naming id and shard for a record that cannot be decoded.
Batch load_batch(const Cache& cache, const std::vector<Request>& requests,
                 const LoadOptions& options);

// Prepares batches ahead on a thread of its own. `plan(i)` gives the requests of batch i, empty at
// the end; it is called in order, on that thread.
class Loader {
 public:
  Loader(const Cache& cache, LoadOptions options,
         std::function<std::vector<Request>(std::uint64_t)> plan);
  ~Loader();  // stops what is being prepared

  // The next batch; empty at the end. Rethrows what preparing it threw. waited_seconds() grows by
  // the time this blocked.
  Batch next();
  double waited_seconds() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace winnow::pipeline
