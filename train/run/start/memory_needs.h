#pragma once

#include <cstddef>

#include "train/backend/backend.h"
#include "train/plan/memory.h"
#include "train/run/options.h"
#include "train/run/start/engine.h"
#include "train/run/start/job.h"

namespace winnow::train {

// Estimates the memory of `job` on this rank, before weights are allocated. Chooses kernels, but
// does not keep the estimated memory. On a GPU, only host memory counts.
// options  Its lanes (parallel replicas of the program) have at least one thread each.
// writes   Whether this rank writes checkpoints.
MemoryNeeds memory_needs(const ExecutionOptions& options, const Job& job, const JobGraphs& graphs,
                         Backend& backend, bool writes);

// Returns MemoryNeeds::program for a run that starts in this process now, in bytes.
std::size_t memory_of_program();

// Returns the memory limit of this rank in bytes, including what it already holds. It is an equal
// share of what the machine and the control group have left, for `local_ranks` ranks on this
// machine.
// limit  Upper bound in bytes; 0: none.
std::size_t memory_for_rank(int local_ranks, std::size_t limit = 0);

}  // namespace winnow::train
