#pragma once

#include <cstdint>
#include <vector>

#include "common/comm/communicator.h"
#include "train/backend/backend.h"
#include "train/plan/step_seconds.h"
#include "train/run/options.h"
#include "train/run/start/job.h"
#include "train/step/trace_recorder.h"

namespace winnow::train {

// Size and extent of a trial, which runs a few steps of a training.
struct TrialShape {
  std::int64_t micro_batch = 1;
  // Micro-batches of a rank in each trial step; may be fewer than in a real step.
  std::int64_t micro_batches = 1;
  int lane_threads = 1;
  int most_steps = 128;  // maximum number of measured steps, after one warm-up step; at least 2
  double least_seconds = 0.5;  // minimum total time of the measured steps
  bool evaluates = false;      // also measure a micro-batch of evaluation
  // Also measure each node of the graph, on a single lane (replica of the program) with nothing
  // else running.
  bool by_node = false;
};

// Measurements of a trial.
struct Trial {
  StepForm form;
  double took_seconds = 0;   // wall time of the whole trial
  double start_seconds = 0;  // wall time to choose kernels, compile programs and create weights
  std::vector<StepSeconds> steps{};  // times of each measured step, divided into parts
  double load_wall = 0;  // seconds to load the first batch, while nothing else is computed
  double load_cpu = 0;   // CPU seconds to load the first batch, over all cores
  // Seconds of a micro-batch on an evaluation lane (replica of the program).
  double evaluation_seconds = 0;
  int evaluation_lanes = 1;
  // Mean number of this machine's cores that were busy meanwhile with other work than the ranks'.
  double others_cores = 0;
  std::vector<double> node_ends{};  // seconds until each node ends, see measure_node_ends()
};

// Runs the first steps of `job`, measures them, and discards the results. Collective.
// As in the real run: ranks, lanes (program replicas), and the loader if the job has a cache. The
// learning rate is 0. Nothing is written.
// Memory  Needs the memory of the run meanwhile.
// Throws  UsageError: not enough memory on some rank.
Trial try_steps(const ExecutionOptions& options, const Job& job, const TrialShape& shape,
                Backend& backend, comm::Communicator& comm);

// Divides the time of the one traced step in `record` into parts. Pure.
// lanes             Number of lanes (parallel replicas of the program).
// waited_for_ranks  Seconds that the step waited for other ranks.
StepSeconds parts_of(const TraceRecord& record, int lanes, double waited_for_ranks);

}  // namespace winnow::train
