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

// One sample to fetch, and the randomness of its augmentation.
struct Request {
  SampleId id = 0;
  std::uint32_t epoch = 0;  // or whatever else counts how often it came before, see Sampler
  float weight = 1;         // 0: padding; nothing is read, its pixels are zero and its id is ~0
  // No sample of the batch, but the one before it in a global batch of which this one is a part;
  // the last of the requests, for recipes that mix samples.
  bool partner = false;
};

// What to load for one batch.
struct Planned {
  std::vector<Request> requests = {};  // none: there is no such batch, and none after it
  // Of each request a pack of records (shard_format.h) with the one to load, valid until the next
  // batch is planned; empty: it is the cache's. No packs at all: all are.
  std::vector<BytesView> packs = {};
};

// Says what a loader loads.
class Planner {
 public:
  virtual ~Planner() = default;
  // Of batches 0, 1, 2 ..., each once, in order, by one thread at a time.
  virtual Planned plan(std::uint64_t batch) = 0;
  // From any thread: a plan() that waits for something, and every later one, returns at once, be it
  // by throwing.
  virtual void stop() noexcept {}
  // Returns when nothing is under way that plan() has begun.
  virtual void settle() {}
  // Bytes of records that came from other machines, for what was planned so far. From any thread.
  virtual std::uint64_t received_bytes() const noexcept { return 0; }
  virtual std::uint64_t sent_bytes() const noexcept { return 0; }  // to others, likewise
};

// What samples of a data set are loaded by.
struct DataTraits {
  Levels levels{};
  std::vector<std::int32_t> label_of{};  // what each label of the cache becomes; empty: all stay
};

struct LoadOptions {
  Geometry geometry;
  Recipe recipe = Recipe::kNone;
  std::uint64_t seed = 0;  // of augmentation and of which variant is taken
  int threads = 1;         // that read, decode and augment
  int batches_ahead = 2;   // prepared while the caller computes
  DataTraits data{};
  std::uint64_t first_batch = 0;  // number of the global batch, for what is drawn once for it
  // Asked when a Loader begins to make its caller wait, and when that is over.
  std::function<std::chrono::steady_clock::time_point()> clock = &std::chrono::steady_clock::now;
};

// Reads, decodes and augments, in parallel, one batch for `requests` (in their order). The result
// does not depend on the number of threads. Of a sample that is stored in variants it takes one, by
// variant_at() of options.seed, epoch and id; the recipe is applied to that. A recipe that mixes
// samples does so with mix_of() of options.seed and first_batch; there is no padding then. Parts of
// a global batch that are loaded by themselves, each with its partner, are the parts of the whole.
// Safe from many threads. Throws Error for a record that cannot be decoded, FormatError for a
// damaged one (of several, the first of the batch), naming id, shard and what the source calls it,
// UsageError for options that make no sense. Starts its threads anew each time: for one batch after
// another use a Loader.
Batch load_batch(const Cache& cache, const std::vector<Request>& requests,
                 const LoadOptions& options);

// Prepares batches ahead on a thread of its own, never holding more than options.batches_ahead, and
// plans them on that thread: what is planned as batch i is batch options.first_batch + i. The cache
// must outlive the loader. next() and settle() are for one thread at a time.
class Loader {
 public:
  Loader(const Cache& cache, LoadOptions options, std::shared_ptr<Planner> planner);
  // Every record is the cache's. `plan` gives what Planned::requests is.
  Loader(const Cache& cache, LoadOptions options,
         std::function<std::vector<Request>(std::uint64_t)> plan);
  ~Loader();  // gives up what is being prepared, within a sample's time

  // The next batch; empty at the end. Rethrows what planning or preparing it threw, after the
  // batches before it; from then on always. waited_seconds() grows by the time this blocked.
  // `used` is a batch the caller is done with, whose memory serves for another: fresh memory costs
  // as much as filling it.
  Batch next(Batch used = {});
  double waited_seconds() const noexcept;
  std::uint64_t received_bytes() const noexcept;  // by the planner, for batches up to some ahead
  std::uint64_t sent_bytes() const noexcept;
  // Returns when nothing more is planned or prepared before next() is called again. How many
  // batches are planned then depends on the calls of next() alone.
  void settle();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace winnow::pipeline
