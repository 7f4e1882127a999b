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

// How a run is computed, and what this rank does of it.
struct PlannedRun {
  RunPlan plan;  // its kernels are those to impose; compiling tells all of them
  Execution execution;
  int evaluation_threads = 1;  // of a lane
  double loss_scale = 0;       // see ExecutionOptions
  MemoryFit memory;
  std::size_t available = 0;  // bytes that this rank may hold
};

Sums sums_of(const ExecutionOptions& options);

// Throws UsageError for what `backend` cannot do.
void check_execution(const ExecutionOptions& options, const Backend& backend);

// What a rank would have if it had all the memory that it wishes for.
struct WishedRank {
  MemoryFit memory{};
  int evaluation_threads = 1;  // of a lane
};
// In      `lane_threads`: of each lane. `ranks`: of the job
// Throws  UsageError: --sync-bn on a card, with several micro-batches on a rank
WishedRank wish_for_rank(const ExecutionOptions& options, const Job& job, const Backend& backend,
                         int lane_threads, int ranks);

// Plans the run. Collective: what has to be equal is rank 0's choice; each rank tells the lanes
// that its cores and its memory allow.
// In      `stored`: the plan of a run that goes on, where its choices hold; else null
// Throws  UsageError: not enough memory on some rank
PlannedRun plan_run(const ExecutionOptions& options, const Job& job, const JobGraphs& graphs,
                    Backend& backend, const RunPlan* stored, comm::Communicator& comm);

// Compiles what `planned` says and enters the kernels into its plan. Collective: where a backend
// measures kernels, the other ranks take rank 0's.
// In      `recipe`: how weights are updated
// Throws  Error: ranks ended up with different kernels
std::unique_ptr<Engine> compile_planned(PlannedRun& planned, const RecipeOptions& recipe,
                                        const JobGraphs& graphs, Backend& backend,
                                        comm::Communicator& comm, Model model);

// "2 lanes of 1 thread on rank 0, micro-batches of 8, about 3.1 GB of 23 GB", for people.
std::string in_words(const PlannedRun& planned, const Job& job, const Backend& backend);

}  // namespace winnow::train
