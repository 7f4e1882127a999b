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

// The part of a run that a trial executes.
struct TrialShape {
  std::int64_t micro_batch = 1;
  std::int64_t micro_batches = 1;  // in a step of a rank; fewer than in the run if that has many
  int lane_threads = 1;
  int most_steps = 12;         // measured, after one warm-up step; at least two
  double least_seconds = 0.5;  // minimum total time of the measured steps
  bool evaluates = false;      // also measures a micro-batch of evaluation
  bool by_node = false;  // also measures each node, on a single lane with nothing running beside it
};

// Measurements of a run.
struct Trial {
  StepForm form;
  double took_seconds = 0;           // all of it
  double start_seconds = 0;          // choosing kernels, compiling programs, creating weights
  std::vector<StepSeconds> steps{};  // divided into parts
  double load_wall = 0;              // for the first batch, while nothing else is computed
  double load_cpu = 0;               // the same, over all cores
  double evaluation_seconds = 0;     // for a micro-batch on an evaluation lane
  int evaluation_lanes = 1;
  double others_cores = 0;          // cores that other work kept busy meanwhile
  std::vector<double> node_ends{};  // see measure_node_ends()
};

// Takes the first steps of a run of `job` and discards them. They run as in the real run: in its
// lanes, on its ranks, with its loader if the job has a cache; but with a learning rate of 0.
// Nothing is written. Needs the memory of the run meanwhile. Collective.
// Throws UsageError: not enough memory on some rank.
Trial try_steps(const ExecutionOptions& options, const Job& job, const TrialShape& shape,
                Backend& backend, comm::Communicator& comm);

// The parts of the one traced step in `record`, with `lanes` lanes. Pure.
StepSeconds parts_of(const TraceRecord& record, int lanes, double waited_for_ranks);

}  // namespace winnow::train
