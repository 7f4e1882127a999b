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

// Which samples each rank computes: contiguous runs of whole micro-batches.
struct Shares {
  std::size_t samples;
  std::size_t micro_batch;
  int ranks;

  std::int64_t micro_batches() const;
  // First and last + 1.
  std::pair<std::int64_t, std::int64_t> micro_batches_of(int rank) const;
  std::pair<std::size_t, std::size_t> samples_of(int rank) const;
  std::vector<std::size_t> bytes_of_ranks(std::size_t bytes_of_sample) const;
};

struct SamplePass {
  const pipeline::Source& source;
  const pipeline::SampleSet& samples;
  Shares shares;
  std::string note;  // for progress: "evaluating"
};

// Computes micro-batch number `micro`, of samples from micro * shares.micro_batch on, on a lane.
using ComputeMicroBatch =
    std::function<void(std::size_t lane, pipeline::Batch& batch, std::int64_t micro)>;

// Loads every sample of this rank once, in micro-batches that are dealt out in order to lanes as
// they become free. The last one is padded with weight 0.
//
// Threads     Each lane has one, the first the caller's. A lane computes one at a time.
// Throws      what `compute` or loading threw first, when all lanes have ended.
// Collective.
void for_each_micro_batch(const SamplePass& pass, const pipeline::LoadOptions& load,
                          comm::Communicator& comm, std::size_t lanes,
                          const ComputeMicroBatch& compute, const ProgressSink& progress);

}  // namespace winnow::train
