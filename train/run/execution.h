#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/comm/communicator.h"
#include "train/backend/backend.h"
#include "train/plan/batch_layout.h"
#include "train/plan/run_plan.h"
#include "train/run/options.h"
#include "train/step/executor.h"

namespace winnow::train {

// How the steps of a run are computed on this rank.
struct Execution {
  int lane_threads = 1;
  std::vector<int> lanes;  // micro-batches of each
  RunPlan plan;            // without its tasks
};

// Throws UsageError for what `backend` cannot do.
void check_execution(const ExecutionOptions& options, const Backend& backend);

// Collective. `stored`: the plan of a run that goes on.
Execution plan_execution(const TrainOptions& options, const BatchLayout& batches,
                         const Backend& backend, const std::optional<RunPlan>& stored,
                         comm::Communicator& comm);

StepOptions step_options(const TrainOptions& options, const BatchLayout& batches,
                         const Execution& execution, bool asynchronous);

// "2 lanes of 1 thread on rank 0, micro-batches of 8", for people.
std::string in_words(const Execution& execution, const BatchLayout& batches, const Backend& backend);

}  // namespace winnow::train
