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

// The plan of a run, and this rank's part of the work.
struct PlannedRun {
  // Plan of the run; its kernels are imposed, and compiling adds those of all other layers.
  RunPlan plan;
  Execution execution;
  int evaluation_threads = 1;  // threads of each evaluation lane (replica of the program)
  double loss_scale = 0;       // fixed loss scale of f16; 0: adaptive, see ExecutionOptions
  MemoryFit memory;
  std::size_t available = 0;  // memory limit of this rank in bytes
};

Sums sums_of(const ExecutionOptions& options);

// Checks that `backend` supports the options. Throws UsageError if it does not.
void check_execution(const ExecutionOptions& options, const Backend& backend);

// Checks that the net has the layers for which kernels are to be imposed (LaneOptions).
// there   The kernels of all layers of the whole net; empty: the backend does not report them, and
//         nothing is checked.
// Throws  UsageError that names a layer that the net does not have. Kernels that a layer does not
//         have are refused when it is planned.
void check_layers(const KernelChoices& asked, const KernelCandidates& there);

// The lanes (program replicas), threads and batches that a rank would use if memory were unlimited.
struct WishedRank {
  MemoryFit memory{};
  int evaluation_threads = 1;  // threads of each evaluation lane (replica of the program)
};
// Returns the lanes (replicas of the program) and batches that a rank would use if memory were
// unlimited.
// lane_threads  Threads of each lane.
// ranks         Number of ranks that evaluate the net, or this rank's stage of it.
// Throws        UsageError: --sync-bn on a GPU with several micro-batches on a rank.
WishedRank wish_for_rank(const ExecutionOptions& options, const Job& job, const Backend& backend,
                         int lane_threads, int ranks);

// Plans the run. Collective: rank 0 decides what must be equal on all ranks; each rank contributes
// as many lanes (replicas of the program) as its cores and memory allow.
// Kernels  Imposes those that rank 0 was asked for and those of `stored`, except for layers that
//          `graphs` does not have, such as those of other stages of a pipeline.
// stored   The plan of a resumed run, if its choices still apply; else nullptr.
// Throws   UsageError: not enough memory on some rank; a kernel that the library does not have.
PlannedRun plan_run(const ExecutionOptions& options, const Job& job, const JobGraphs& graphs,
                    Backend& backend, const RunPlan* stored, comm::Communicator& comm);

// Compiles the programs as planned, and records the chosen kernels in `planned`. Collective: if a
// backend measures kernels, all ranks use those that rank 0 chose.
// recipe  How weights are updated.
// Throws  Error: ranks ended up with different kernels.
std::unique_ptr<Engine> compile_planned(PlannedRun& planned, const RecipeOptions& recipe,
                                        const JobGraphs& graphs, Backend& backend,
                                        comm::Communicator& comm, Model model);

// Returns user-facing text such as "2 lanes of 1 thread on rank 0, micro-batches of 8, about 3.1 GB
// of 23 GB".
std::string in_words(const PlannedRun& planned, const Job& job, const Backend& backend);

}  // namespace winnow::train
