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

// What a trial does of a run.
struct TrialShape {
  std::int64_t micro_batch = 1;
  std::int64_t micro_batches = 1;  // of a rank in a step: fewer than in the run, where it has many
  int lane_threads = 1;
  int most_steps = 12;         // measured, after one that warms up; two at least
  double least_seconds = 0.5;  // of steps, until no more are measured
  bool evaluates = false;      // also measures a micro-batch of evaluation
  bool by_node = false;        // also measures each node, on one lane that has nothing beside it
};

// What was measured of a run.
struct Trial {
  StepForm form;
  double start_seconds = 0;          // kernels chosen, programs compiled, weights made
  std::vector<StepSeconds> steps{};  // by part
  double load_wall = 0;              // of the first batch, which nothing was computed beside
  double load_cpu = 0;               // of all cores, likewise
  double evaluation_seconds = 0;     // of a micro-batch on a lane of evaluation
  int evaluation_lanes = 1;
  double others_cores = 0;          // that other work kept busy meanwhile
  std::vector<double> node_ends{};  // see measure_node_ends()
};

// Takes the first steps of a run of `job` and throws them away. They are taken as the run would:
// in its lanes, with its loader where the job has a cache, and its ranks, at a learning rate of 0.
// Nothing is written. Takes the memory of the run meanwhile. Collective.
// Throws  UsageError: not enough memory on some rank
Trial try_steps(const ExecutionOptions& options, const Job& job, const TrialShape& shape,
                Backend& backend, comm::Communicator& comm);

// The parts of the one traced step in `record`, of `lanes` lanes. Pure.
StepSeconds parts_of(const TraceRecord& record, int lanes, double waited_for_ranks);

}  // namespace winnow::train
