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
  std::uint32_t epoch = 0;  // or another number that grows each time the sample comes, see Sampler
  float weight = 1;         // 0: padding; nothing is read, pixels are zero and the id is ~0
  // Not part of the batch, but the sample before it in the global batch of which this is a part.
  // Last of the requests, for recipes that mix samples.
  bool partner = false;
};

// The requests of one batch.
struct Planned {
  std::vector<Request> requests = {};  // empty: neither this batch nor a later one exists
  // For each request a pack (shard_format.h) with its record, valid until the next batch is
  // planned; an empty pack: read from the cache. No packs: read all from the cache.
  std::vector<BytesView> packs = {};
};

// Decides what a loader loads.
class Planner {
 public:
  virtual ~Planner() = default;
  // Called for batches 0, 1, 2 ..., each once, in order, by one thread at a time.
  virtual Planned plan(std::uint64_t batch) = 0;
  // From any thread: a waiting plan(), and every later one, returns at once, perhaps by throwing.
  virtual void stop() noexcept {}
  // Returns when nothing that plan() started is running any more.
  virtual void settle() {}
  // Bytes of records received from other machines for planned batches. From any thread.
  virtual std::uint64_t received_bytes() const noexcept { return 0; }
  virtual std::uint64_t sent_bytes() const noexcept { return 0; }  // sent to others, likewise
};

// Properties of the data set for loading.
struct DataTraits {
  Levels levels{};
  std::vector<std::int32_t> label_of{};  // new label for each label of the cache; empty: unchanged
};

struct LoadOptions {
  Geometry geometry;
  Recipe recipe = Recipe::kNone;
  std::uint64_t seed = 0;  // for augmentation and the choice of variants
  int threads = 1;         // for reading, decoding and augmenting
  int batches_ahead = 2;   // prepared while the caller computes
  DataTraits data{};
  std::uint64_t first_batch = 0;  // number of the global batch, for what is drawn once per batch
  // Called when a Loader begins and ends blocking its caller.
  std::function<std::chrono::steady_clock::time_point()> clock = &std::chrono::steady_clock::now;
};

// Reads, decodes and augments one batch for `requests`, in their order, in parallel. The result
// does not depend on the number of threads.
//
// Variants  Of a sample stored in variants it takes variant_at() of options.seed, epoch and id, and
//           applies the recipe to it.
// Mixing    A recipe that mixes samples uses mix_of() of options.seed and first_batch; padding is
//           not allowed then. Parts of a global batch, each loaded with its partner, equal the
//           parts of the whole.
// Threads   Thread-safe. Starts its threads each time: use a Loader for consecutive batches.
// Errors    Error for a record that cannot be decoded, FormatError for a damaged one: the first of
//           the batch, with id, shard and name in the source. UsageError for invalid options.
Batch load_batch(const Cache& cache, const std::vector<Request>& requests,
                 const LoadOptions& options);

// Prepares batches on a thread of its own, at most options.batches_ahead. Plans them on that
// thread, too: the batch planned as i is number options.first_batch + i. The cache must outlive the
// loader. next() and settle() are for one thread at a time.
class Loader {
 public:
  Loader(const Cache& cache, LoadOptions options, std::shared_ptr<Planner> planner);
  // Loads all records from the cache. `plan` returns Planned::requests.
  Loader(const Cache& cache, LoadOptions options,
         std::function<std::vector<Request>(std::uint64_t)> plan);
  ~Loader();  // abandons what is being prepared, within the time of one sample

  // Returns the next batch; empty at the end. Rethrows errors of planning or preparing it, after
  // the batches before it, and again on every later call. waited_seconds() grows by the time this
  // blocked.
  // used  A batch that is no longer needed; its memory is reused, because fresh memory costs as
  //       much as filling it.
  Batch next(Batch used = {});
  double waited_seconds() const noexcept;
  std::uint64_t received_bytes() const noexcept;  // by the planner, including batches ahead
  std::uint64_t sent_bytes() const noexcept;
  // Returns when nothing is planned or prepared until the next call of next(). The number of
  // planned batches then depends on the calls of next() only.
  void settle();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace winnow::pipeline
