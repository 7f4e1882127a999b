#pragma once

#include <cstddef>

#include "train/backend/backend.h"
#include "train/plan/memory.h"
#include "train/run/options.h"
#include "train/run/start/engine.h"
#include "train/run/start/job.h"

namespace winnow::train {

// Memory estimate for `job` on this rank in lanes of `lane_threads` threads, before weights are
// allocated. Chooses kernels, but does not keep the estimated memory.
// writes  Whether this rank writes checkpoints.
// On a GPU, only host memory counts.
MemoryNeeds memory_needs(const ExecutionOptions& options, const Job& job, const JobGraphs& graphs,
                         Backend& backend, int lane_threads, bool writes);

// Memory limit of this rank in bytes, including what it already holds: its share of what the
// machine and the control group leave to the `local_ranks` of this machine, and at most `limit`. 0:
// no limit.
std::size_t memory_for_rank(int local_ranks, std::size_t limit = 0);

}  // namespace winnow::train
