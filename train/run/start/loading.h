#pragma once

#include <cstdint>
#include <memory>

#include "common/comm/communicator.h"
#include "pipeline/load/loader.h"
#include "train/run/start/job.h"

namespace winnow::train {

// Steps [first, last) of a run, counted from 0.
struct StepRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

// Returns options to load images for the job's net, prepared with `recipe`. `threads`: number of
// decoding threads.
pipeline::LoadOptions load_options(const Job& job, pipeline::Recipe recipe, int threads,
                                   std::int64_t first_step);

// Loads this rank's part of the global batches of `steps`, in order; without pixels for a later
// stage of a pipeline.
// batches_ahead  Number of batches that are prepared in advance.
// Lifetime       `job` and `comm` must outlive the loader.
// Collective     All ranks start their loaders in the same order.
std::unique_ptr<pipeline::Loader> load_training_batches(const Job& job, int threads,
                                                        const comm::Communicator& comm,
                                                        StepRange steps, int batches_ahead);

// Returns the position, in the stream of samples, of the first sample of this rank's part of a
// step's batch.
std::uint64_t first_position(const BatchLayout& batches, std::int64_t step);

}  // namespace winnow::train
