#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/load/sampler.h"

namespace winnow::train {

// Positions of epochs, of global batches, and of one rank's part of them in the stream of samples.
//
// Batches        Global batch b has the positions [b*B, (b+1)*B) of the stream.
// Micro-batches  A batch has V = B/m of them. A rank has a contiguous range.
struct BatchLayout {
  std::int64_t samples = 1;      // in one epoch
  std::int64_t batch = 1;        // B
  std::int64_t micro_batch = 1;  // m
  std::int64_t first_micro = 0;  // this rank's first one
  std::int64_t last_micro = 1;   // one past the last
  std::int64_t total_steps = 1;

  std::int64_t micro_batches() const noexcept { return last_micro - first_micro; }
  // First step of the next epoch; epoch >= 1.
  std::int64_t end_of_epoch(std::int64_t epoch) const noexcept;
  double epoch_at(std::int64_t step) const noexcept;
};

// A rank, and the number of ranks.
struct RankOf {
  int rank = 0;
  int ranks = 1;
};

// Computes the layout of one rank. Pure.
// of_views  The loss compares views; the default micro-batch is then micro_batch_of_views().
// Throws    UsageError: the batch is no multiple of the micro-batch; there are more ranks than
//           micro-batches (the message names batches that work); or there is nothing to do.
BatchLayout plan_batches(std::int64_t samples, std::int64_t batch, std::int64_t micro_batch,
                         double epochs, const RankOf& self, bool of_views = false);

// `layout` for another rank.
BatchLayout part_of(BatchLayout layout, int rank, int ranks);

// With fewer samples in a micro-batch, batch norm's statistics are coarse.
inline constexpr std::int64_t kLeastOfNorm = 8;

// The default micro-batch: the largest divisor of `batch` that is at most 64 and leaves at least
// four micro-batches. If it is below kLeastOfNorm, the smallest divisor that is not; otherwise the
// whole batch, as for all primes.
// It depends on the batch alone, so that the number of ranks never changes results.
std::int64_t default_micro_batch(std::int64_t batch);

// The default for losses that compare the samples of a micro-batch with each other: the largest
// divisor that is at most 256 and leaves at least two micro-batches. If it is below kLeastOfNorm,
// the smallest divisor that is not, which may exceed 256 or be the whole batch.
std::int64_t micro_batch_of_views(std::int64_t batch);

// The default before kLeastOfNorm existed, for resuming runs that began with it. 1 for primes.
std::int64_t older_micro_batch(std::int64_t batch, bool of_views);

// The requests of a rank for a step: its part of the global batch.
// mixed  Samples are mixed with the previous one. So the sample before the rank's first one is
//        loaded, too, as a partner, unless the rank has the whole batch.
std::vector<pipeline::Request> requests_of(const BatchLayout& layout,
                                           const pipeline::Sampler& sampler, std::int64_t step,
                                           bool mixed);

// Sum of the sample weights of a whole global batch, with the same bits on every rank. Draws the
// batch's samples only if their weights differ.
double weight_of_batch(const BatchLayout& layout, const pipeline::Sampler& sampler,
                       std::int64_t step);

}  // namespace winnow::train
