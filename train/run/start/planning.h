#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "common/comm/communicator.h"
#include "train/backend/backend.h"
#include "train/plan/execution.h"
#include "train/plan/memory.h"
#include "train/plan/run_plan.h"
#include "train/run/options.h"
#include "train/run/start/engine.h"
#include "train/run/start/job.h"

namespace winnow::train {

// How a run is computed, and this rank's part of it.
struct PlannedRun {
  RunPlan plan;  // its kernels are to be imposed; compiling adds all of them
  Execution execution;
  int evaluation_threads = 1;  // for each lane
  double loss_scale = 0;       // see ExecutionOptions
  MemoryFit memory;
  std::size_t available = 0;  // memory limit of this rank in bytes
};

Sums sums_of(const ExecutionOptions& options);

// Throws UsageError for options that `backend` does not support.
void check_execution(const ExecutionOptions& options, const Backend& backend);

// A rank's settings if memory were unlimited.
struct WishedRank {
  MemoryFit memory{};
  int evaluation_threads = 1;  // for each lane
};
// `lane_threads`: for each lane. `ranks`: of the job.
// Throws UsageError: --sync-bn on a GPU with several micro-batches on a rank.
WishedRank wish_for_rank(const ExecutionOptions& options, const Job& job, const Backend& backend,
                         int lane_threads, int ranks);

// Plans the run. Collective: rank 0 decides what must be equal, and each rank contributes the lanes
// that its cores and memory allow.
// stored  The plan of a resumed run, if its choices still apply; else nullptr.
// Throws  UsageError: not enough memory on some rank.
PlannedRun plan_run(const ExecutionOptions& options, const Job& job, const JobGraphs& graphs,
                    Backend& backend, const RunPlan* stored, comm::Communicator& comm);

// Compiles according to `planned`, and records the kernels in its plan. Collective: if a backend
// measures kernels, the other ranks use those of rank 0.
// recipe  How weights are updated.
// Throws  Error: ranks ended up with different kernels.
std::unique_ptr<Engine> compile_planned(PlannedRun& planned, const RecipeOptions& recipe,
                                        const JobGraphs& graphs, Backend& backend,
                                        comm::Communicator& comm, Model model);

// User-facing text such as "2 lanes of 1 thread on rank 0, micro-batches of 8, about 3.1 GB of 23
// GB".
std::string in_words(const PlannedRun& planned, const Job& job, const Backend& backend);

}  // namespace winnow::train
