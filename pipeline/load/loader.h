#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/bytes.h"
#include "common/sample.h"
#include "pipeline/augment/augment.h"
#include "pipeline/load/batch.h"
#include "pipeline/load/samples.h"

namespace winnow::pipeline {

class Cache;

// One sample to load, and what determines its augmentation.
struct Request {
  SampleId id = 0;
  // Epoch, or another number that grows each time the sample is drawn, see Sampler.
  std::uint32_t epoch = 0;
  float weight = 1;  // loss weight; 0: padding, for which nothing is read: zero pixels, id ~0
  // True for the sample before this part of a global batch, which is loaded only to be mixed with
  // the part's first sample. Must be the last request; only for recipes that mix samples.
  bool partner = false;
};

// The samples of one batch, and where their records are.
struct Planned {
  // Samples to load; empty: the batch does not exist, nor any later one.
  std::vector<Request> requests = {};
  // For each request a pack (shard_format.h) with the sample's record, valid until the next batch
  // is planned; an empty pack: read the record from the cache. No packs at all: read all from the
  // cache.
  std::vector<BytesView> packs = {};
};

// Decides which samples a loader loads, and fetches records that are elsewhere.
class Planner {
 public:
  virtual ~Planner() = default;
  // Plans one batch. Called once for each of the batches 0, 1, 2 ..., in order, by one thread at a
  // time.
  virtual Planned plan(std::uint64_t batch) = 0;
  // Makes a waiting plan(), and every later one, return at once or throw. Callable from any thread.
  virtual void stop() noexcept {}
  // Waits until everything that plan() started has ended.
  virtual void settle() {}
  // Bytes of records received from other machines for planned batches. Callable from any thread.
  virtual std::uint64_t received_bytes() const noexcept { return 0; }
  // Bytes of records sent to other machines. Callable from any thread.
  virtual std::uint64_t sent_bytes() const noexcept { return 0; }
};

// Properties of the data set that loading needs.
struct DataTraits {
  Levels levels{};
  std::vector<std::int32_t> label_of{};  // new label for each label of the cache; empty: unchanged
  // false: no image is decoded, and batches have no pixels. All else is the same.
  bool pixels = true;
};

struct LoadOptions {
  Geometry geometry;
  Recipe recipe = Recipe::kNone;
  std::uint64_t seed = 0;  // seed for augmentation and the choice of variants
  int threads = 1;         // threads that read, decode and augment
  int batches_ahead = 2;   // batches to prepare while the caller computes
  DataTraits data{};
  // Number of the first global batch, which selects random numbers that are drawn once per batch.
  std::uint64_t first_batch = 0;
  // Clock for waited_seconds(). Called when a Loader begins and ends blocking its caller.
  std::function<std::chrono::steady_clock::time_point()> clock = &std::chrono::steady_clock::now;
};

// Reads, decodes and augments the samples of one batch in parallel, in the order of `requests`. The
// result does not depend on the number of threads.
//
// Variants  If augmented variants of a sample are stored, variant_at() chooses one by options.seed,
//           epoch and id, and the recipe is applied to it.
// Mixing    A recipe that mixes samples uses mix_of() with options.seed and first_batch. Padding is
//           not allowed then. A part of a global batch that is loaded with its partner is equal to
//           the same rows of the whole batch.
// Threads   Thread-safe. Starts its threads each time: use a Loader for consecutive batches.
// Errors    Error for a record that cannot be decoded, FormatError for a damaged one: the first of
//           the batch, with id, shard and name in the source. UsageError for invalid options.
Batch load_batch(const Cache& cache, const std::vector<Request>& requests,
                 const LoadOptions& options);

// Loads batches in advance, at most options.batches_ahead, on a thread of its own, which also calls
// the planner. Planned batch i is global batch options.first_batch + i. The cache must outlive the
// loader. next() and settle() are for one thread at a time.
class Loader {
 public:
  Loader(const Cache& cache, LoadOptions options, std::shared_ptr<Planner> planner);
  // Loads all records from the cache. `plan` returns the requests of a batch, as Planned::requests.
  Loader(const Cache& cache, LoadOptions options,
         std::function<std::vector<Request>(std::uint64_t)> plan);
  ~Loader();  // abandons batches in preparation, within the time of one sample

  // Returns the next batch; empty at the end. Errors while planning or preparing a batch are
  // rethrown after all batches before it, and by every later call. The time it waits is added to
  // waited_seconds().
  // used  a batch that is no longer needed; its memory is reused, because fresh memory costs as
  //       much as filling it
  Batch next(Batch used = {});
  double waited_seconds() const noexcept;
  // Bytes the planner received, also for batches ahead.
  std::uint64_t received_bytes() const noexcept;
  std::uint64_t sent_bytes() const noexcept;
  // Waits until nothing is being planned or prepared; work goes on with the next call of next().
  // The number of planned batches then depends on the calls of next() alone.
  void settle();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace winnow::pipeline
