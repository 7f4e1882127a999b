#pragma once

#include <cstddef>

#include "train/backend/backend.h"
#include "train/plan/memory.h"
#include "train/run/options.h"
#include "train/run/start/engine.h"
#include "train/run/start/job.h"

namespace winnow::train {

// What this rank, before it has weights, needs to train `job` in lanes of `lane_threads` threads.
// Chooses kernels, but keeps none of the memory it tells.
// In  `writes`: this rank writes checkpoints
// On a card  only what lies in the machine's memory counts.
MemoryNeeds memory_needs(const ExecutionOptions& options, const Job& job, const JobGraphs& graphs,
                         Backend& backend, int lane_threads, bool writes);

// Bytes that this rank may hold, what it holds already included: its share of what the machine and
// the control group leave to the `local_ranks` of this machine, and at most `limit`; 0: no limit.
std::size_t memory_for_rank(int local_ranks, std::size_t limit = 0);

}  // namespace winnow::train
