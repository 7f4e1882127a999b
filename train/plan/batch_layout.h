#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/load/sampler.h"

namespace winnow::train {

// Where epochs, global batches and one rank's part of them lie in the stream of samples.
//
// Batches         Global batch b is positions [b*B, (b+1)*B) of the stream.
// Micro-batches   A batch has V = B/m of them. A rank has a contiguous run.
struct BatchLayout {
  std::int64_t samples = 1;      // of one epoch
  std::int64_t batch = 1;        // B
  std::int64_t micro_batch = 1;  // m
  std::int64_t first_micro = 0;  // of this rank
  std::int64_t last_micro = 1;   // one past
  std::int64_t total_steps = 1;

  std::int64_t micro_batches() const noexcept { return last_micro - first_micro; }
  // First step of the next epoch; epoch >= 1.
  std::int64_t end_of_epoch(std::int64_t epoch) const noexcept;
  double epoch_at(std::int64_t step) const noexcept;
};

// One rank, and how many there are.
struct RankOf {
  int rank = 0;
  int ranks = 1;
};

// Pure. Throws UsageError when the batch is no multiple of the micro-batch, there are more ranks
// than micro-batches (naming batches that divide), or there is nothing to do.
// `of_views`: the loss compares views, whose default is micro_batch_of_views().
BatchLayout plan_batches(std::int64_t samples, std::int64_t batch, std::int64_t micro_batch,
                         double epochs, const RankOf& self, bool of_views = false);

// The same layout as another rank has it.
BatchLayout part_of(BatchLayout layout, int rank, int ranks);

// Below so many samples in a micro-batch, batch norm's statistics are coarse.
inline constexpr std::int64_t kLeastOfNorm = 8;

// The largest divisor of `batch` that is at most 64 and leaves at least four micro-batches. Where
// that is less than kLeastOfNorm, the smallest divisor that is not; the whole batch where there is
// none, so for all primes. A function of the batch alone, so that the number of ranks never changes
// what is computed.
std::int64_t default_micro_batch(std::int64_t batch);

// The same for losses that compare the samples of a micro-batch with each other: the largest
// divisor that is at most 256 and leaves at least two micro-batches. Where that is less than
// kLeastOfNorm, the smallest divisor that is not, be it over 256 or the whole batch.
std::int64_t micro_batch_of_views(std::int64_t batch);

// What either default was before kLeastOfNorm: runs that began with it go on. 1 for primes.
std::int64_t older_micro_batch(std::int64_t batch, bool of_views);

// What a rank loads for a step: its part of the global batch.
// `mixed`: samples are mixed with the one before them, so the one before its first comes as well,
// as a partner; a rank with the whole batch has that already.
std::vector<pipeline::Request> requests_of(const BatchLayout& layout,
                                           const pipeline::Sampler& sampler, std::int64_t step,
                                           bool mixed);

// Sum of the sample weights of a whole global batch. The same bits on every rank. Draws the batch's
// samples only where their weights differ.
double weight_of_batch(const BatchLayout& layout, const pipeline::Sampler& sampler,
                       std::int64_t step);

}  // namespace winnow::train
