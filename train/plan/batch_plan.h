#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/load/sampler.h"

namespace winnow::train {

// How epochs, global batches and one rank's part of them lie in the stream of samples: global batch
// b is positions [b*B, (b+1)*B); of its V = B/m micro-batches a rank has a contiguous run.
struct BatchPlan {
  std::int64_t samples = 1;      // of one epoch
  std::int64_t batch = 1;        // B
  std::int64_t micro_batch = 1;  // m
  std::int64_t first_micro = 0;  // of this rank
  std::int64_t last_micro = 1;   // one past
  std::int64_t total_steps = 1;

  std::int64_t micro_batches() const noexcept { return last_micro - first_micro; }
  std::int64_t end_of_epoch(
      std::int64_t epoch) const noexcept;  // first step of the next; epoch >= 1
  double epoch_at(std::int64_t step) const noexcept;
};

// Pure. Throws UsageError when the batch is no multiple of the micro-batch, there are more ranks
// than micro-batches, or there is nothing to do.
BatchPlan plan_batches(std::int64_t samples, std::int64_t batch, std::int64_t micro_batch,
                       double epochs, int rank, int ranks);

// The same plan as another rank has it.
BatchPlan part_of(BatchPlan plan, int rank, int ranks);

// The largest divisor of `batch` that is at most 64 and leaves at least four micro-batches; 1 where
// there is none. A function of the batch alone, so that the number of ranks never changes what is
// computed.
std::int64_t default_micro_batch(std::int64_t batch);

// What a rank loads for a step: its part of the global batch and, where samples are mixed with the
// one before them, that of its first one as a partner. A rank with the whole batch has it already.
std::vector<pipeline::Request> requests_of(const BatchPlan& plan, const pipeline::Sampler& sampler,
                                           std::int64_t step, bool mixed);

// Sum of the sample weights of a whole global batch, the same on every rank.
double weight_of_batch(const BatchPlan& plan, const pipeline::Sampler& sampler, std::int64_t step);

}  // namespace winnow::train
