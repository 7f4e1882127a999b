#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/sample.h"
#include "pipeline/augment/augment.h"
#include "pipeline/load/batch.h"
#include "pipeline/load/samples.h"

namespace winnow::pipeline {

class Cache;

// Throws UsageError when the cache holds fingerprints only.
void check_holds_images(const Cache& cache);

// `selection` may be empty: everything, weight 1. Only samples used in `split`; those of
// weight 0 and those the selection does not name are left out. By a selection of mode kOnePerGroup
// the samples that one sample stands for take turns. Throws UsageError when nothing is left or when
// the cache holds fingerprints only; FormatError as Cache does and when the selection names unknown
// samples.
SampleSet select_samples(const Cache& cache, Split split, const std::string& selection);

// One sample to fetch, and the randomness of its augmentation.
struct Request {
  SampleId id = 0;
  std::uint32_t epoch = 0;  // or whatever else counts how often it came before, see Sampler
  float weight = 1;         // 0: padding; nothing is read, its pixels are zero and its id is ~0
};

struct LoadOptions {
  Geometry geometry;
  Recipe recipe = Recipe::kNone;
  std::uint64_t seed = 0;  // of augmentation and of which variant is taken
  int threads = 1;         // that read, decode and augment
  int batches_ahead = 2;   // prepared while the caller computes
};

// Reads, decodes and augments, in parallel, one batch for `requests` (in their order). The result
// does not depend on the number of threads. Of a sample that is stored in variants it takes one, by
// variant_at() of options.seed, epoch and id; the recipe is applied to that. Safe from many
// threads. Throws Error naming id and shard for a record that cannot be decoded, FormatError for a
// damaged one (of several, the first of the batch), UsageError for options that make no sense.
// Starts its threads anew each time: for one batch after another use a Loader.
Batch load_batch(const Cache& cache, const std::vector<Request>& requests,
                 const LoadOptions& options);

// Prepares batches ahead on a thread of its own, never holding more than options.batches_ahead.
// `plan(i)` gives the requests of batch i, empty at the end; it is called in order, on that thread.
// The cache must outlive the loader. next() is for one thread at a time.
class Loader {
 public:
  Loader(const Cache& cache, LoadOptions options,
         std::function<std::vector<Request>(std::uint64_t)> plan);
  ~Loader();  // gives up what is being prepared, within a sample's time

  // The next batch; empty at the end. Rethrows what planning or preparing it threw, after the
  // batches before it; from then on always. waited_seconds() grows by the time this blocked.
  Batch next();
  double waited_seconds() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace winnow::pipeline
