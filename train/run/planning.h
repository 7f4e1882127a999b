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
#include "train/run/engine.h"
#include "train/run/job.h"
#include "train/run/options.h"

namespace winnow::train {

// How a run is computed, and what this rank does of it.
struct PlannedRun {
  RunPlan plan;  // without the kernels, which compiling tells
  Execution execution;
  MemoryFit memory;
  std::size_t available = 0;  // bytes that this rank may hold
};

// Throws UsageError for what `backend` cannot do.
void check_execution(const ExecutionOptions& options, const Backend& backend);

// Plans the run. Collective: what has to be equal is rank 0's choice; each rank tells the lanes
// that its cores and its memory allow. In      `stored`: the plan of a run that goes on Throws
// UsageError: not enough memory on some rank
PlannedRun plan_run(const TrainOptions& options, const Job& job, const JobGraphs& graphs,
                    Backend& backend, const std::optional<RunPlan>& stored,
                    comm::Communicator& comm);

// Compiles what `planned` says and enters the kernels into its plan. Collective: where a backend
// measures kernels, the other ranks take rank 0's.
// In      `stored`: as for plan_run(); kernels that it names are imposed
// Throws  Error: ranks ended up with different kernels
std::unique_ptr<Engine> compile_planned(PlannedRun& planned, const TrainOptions& options,
                                        const JobGraphs& graphs, Backend& backend,
                                        const std::optional<RunPlan>& stored,
                                        comm::Communicator& comm, Model model);

// "2 lanes of 1 thread on rank 0, micro-batches of 8, about 3.1 GB of 23 GB", for people.
std::string in_words(const PlannedRun& planned, const Job& job, const Backend& backend);

}  // namespace winnow::train
