#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/comm/communicator.h"
#include "common/progress.h"
#include "pipeline/load/exchange.h"
#include "pipeline/load/loader.h"
#include "pipeline/load/samples.h"
#include "train/plan/rank_stages.h"

namespace winnow::train {

// Divides samples among ranks, in whole micro-batches. Each rank of the last stage of a pipeline
// has the results of a contiguous range; without a pipeline, every rank is of the last stage.
struct Shares {
  std::size_t samples;
  std::size_t micro_batch;
  RankStages stages;

  std::int64_t micro_batches() const;
  // Half-open ranges of the micro-batches, and of the samples, of which a rank has the results.
  std::pair<std::int64_t, std::int64_t> micro_batches_of(int rank) const;
  std::pair<std::size_t, std::size_t> samples_of(int rank) const;
  std::vector<std::size_t> bytes_of_ranks(std::size_t bytes_of_sample) const;
};

// A micro-batch that a rank computes, and the ranks with which it shares the work.
struct Turn {
  std::int64_t micro = 0;   // number of the micro-batch
  std::int64_t number = 0;  // number of this rank's turn, from 0
  int from = -1;            // rank of the stage before, which sends values; -1: none
  int to = -1;              // rank of the next stage, which receives values; -1: none

  friend bool operator==(const Turn&, const Turn&) = default;
};

// The turns of a rank by rounds, of which all ranks have equally many; nullopt: it has no turn in
// this round. Pure.
// Pipeline  A round has one micro-batch, and the ranks of a stage take turns. So no rank waits for
//           values of a later round, and ranks of the last stage are busy at the same time.
std::vector<std::optional<Turn>> rounds_of(const Shares& shares, int rank);

struct SamplePass {
  const pipeline::Source& source;
  const pipeline::SampleSet& samples;
  Shares shares;
  std::string note;  // label of the progress bar, such as "evaluating"
};

// Function that computes a micro-batch on a lane (program replica). `batch` holds its samples,
// which start at turn.micro * shares.micro_batch.
using ComputeMicroBatch =
    std::function<void(std::size_t lane, pipeline::Batch& batch, const Turn& turn)>;

// Loads every sample of this rank's turns once, in micro-batches. They go in order to lanes
// (program replicas) as these become free. The last one is padded with samples of weight 0.
// Collective.
//
// Threads  One for each lane; the first lane uses the caller's. A lane computes one micro-batch at
//          a time.
// Throws   The first error of `compute` or of loading, after all lanes have ended.
void for_each_micro_batch(const SamplePass& pass, const pipeline::LoadOptions& load,
                          comm::Communicator& comm, std::size_t lanes,
                          const ComputeMicroBatch& compute, const ProgressSink& progress);

}  // namespace winnow::train
