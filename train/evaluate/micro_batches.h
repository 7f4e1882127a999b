#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/comm/communicator.h"
#include "common/progress.h"
#include "pipeline/load/exchange.h"
#include "pipeline/load/loader.h"
#include "pipeline/load/samples.h"

namespace winnow::train {

// Divides samples among ranks: each rank computes a contiguous range of whole micro-batches.
struct Shares {
  std::size_t samples;
  std::size_t micro_batch;
  int ranks;

  std::int64_t micro_batches() const;
  // Half-open ranges of the micro-batches, and of the samples, that a rank computes.
  std::pair<std::int64_t, std::int64_t> micro_batches_of(int rank) const;
  std::pair<std::size_t, std::size_t> samples_of(int rank) const;
  std::vector<std::size_t> bytes_of_ranks(std::size_t bytes_of_sample) const;
};

struct SamplePass {
  const pipeline::Source& source;
  const pipeline::SampleSet& samples;
  Shares shares;
  std::string note;  // label of the progress bar, such as "evaluating"
};

// Function that computes micro-batch number `micro` on a lane (program replica). `batch` holds its
// samples, which start at micro * shares.micro_batch.
using ComputeMicroBatch =
    std::function<void(std::size_t lane, pipeline::Batch& batch, std::int64_t micro)>;

// Loads every sample of this rank once, in micro-batches. They go in order to lanes (program
// replicas) as these become free. The last one is padded with samples of weight 0. Collective.
//
// Threads  One for each lane; the first lane uses the caller's. A lane computes one micro-batch at
//          a time.
// Throws   The first error of `compute` or of loading, after all lanes have ended.
void for_each_micro_batch(const SamplePass& pass, const pipeline::LoadOptions& load,
                          comm::Communicator& comm, std::size_t lanes,
                          const ComputeMicroBatch& compute, const ProgressSink& progress);

}  // namespace winnow::train
