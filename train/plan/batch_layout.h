#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/load/sampler.h"

namespace winnow::train {

// Positions of epochs, of global batches, and of one rank's part of each batch in the stream of
// samples.
//
// Batches        Global batch b has the positions [b*B, (b+1)*B) of the stream, for batches of B
//                samples.
// Micro-batches  A batch has V = B/m micro-batches of m samples. Each rank computes a contiguous
//                range of them.
struct BatchLayout {
  std::int64_t samples = 1;      // number of samples in one epoch
  std::int64_t batch = 1;        // global batch size B
  std::int64_t micro_batch = 1;  // micro-batch size m
  std::int64_t first_micro = 0;  // index of this rank's first micro-batch within a global batch
  std::int64_t last_micro = 1;   // one past this rank's last micro-batch
  std::int64_t total_steps = 1;

  std::int64_t micro_batches() const noexcept { return last_micro - first_micro; }
  // Returns the step at which epoch number `epoch` (>= 1) has ended and the next begins.
  std::int64_t end_of_epoch(std::int64_t epoch) const noexcept;
  double epoch_at(std::int64_t step) const noexcept;
};

// A rank, and the number of ranks.
struct RankOf {
  int rank = 0;
  int ranks = 1;
};

// Computes the layout of one rank. Pure.
// of_views  The loss compares augmented views of each sample. Only the error message depends on it.
// Throws    UsageError: the batch is no multiple of the micro-batch; there are more ranks than
//           micro-batches (the message names batches that work); or there is nothing to do.
BatchLayout plan_batches(std::int64_t samples, std::int64_t batch, std::int64_t micro_batch,
                         double epochs, const RankOf& self, bool of_views = false);

// Returns `layout` for another rank.
BatchLayout part_of(BatchLayout layout, int rank, int ranks);

// Smallest micro-batch for which batch norm's statistics are not too coarse.
inline constexpr std::int64_t kLeastOfNorm = 8;

// Returns the default micro-batch size: the largest divisor of `batch` that is at most 64 and
// leaves at least four micro-batches. If that is below kLeastOfNorm: the smallest divisor that is
// at least kLeastOfNorm; or, if there is none, as for primes, the whole batch.
// It depends only on `batch`, so the number of ranks never changes results.
std::int64_t default_micro_batch(std::int64_t batch);

// Returns the default micro-batch size for losses that compare the samples of a micro-batch with
// each other: the largest divisor of `batch` that is at most 256 and leaves at least two
// micro-batches. If that is below kLeastOfNorm: the smallest divisor that is at least kLeastOfNorm,
// which may exceed 256 or be the whole batch.
std::int64_t micro_batch_of_views(std::int64_t batch);

// Returns the default micro-batch size of versions that had no kLeastOfNorm, to resume their runs.
// It is 1 for primes.
std::int64_t older_micro_batch(std::int64_t batch, bool of_views);

// Returns the requests to load this rank's part of the global batch of a step.
// mixed  Each sample is mixed with the one before it. So the sample before the rank's first is
//        loaded too, unless the rank has the whole batch.
std::vector<pipeline::Request> requests_of(const BatchLayout& layout,
                                           const pipeline::Sampler& sampler, std::int64_t step,
                                           bool mixed);

// Returns the sum of the sample weights of a whole global batch, with the same bits on every rank.
// Draws the batch's samples only if their weights differ.
double weight_of_batch(const BatchLayout& layout, const pipeline::Sampler& sampler,
                       std::int64_t step);

}  // namespace winnow::train
