#include "train/run/execution.h"

#include <cstdlib>

#include "common/comm/schedule/schedule.h"
#include "common/error.h"
#include "train/backend/checks.h"
#include "train/run/build_name.h"

namespace winnow::train {
namespace {

constexpr const char* kLaneThreads = "lane_threads";

// The same on every rank: rank 0 measures.
int agree_on_lane_threads(const ExecutionOptions& options, const BatchPlan& batches,
                          const std::optional<RunPlan>& stored, bool replan,
                          comm::Communicator& comm) {
  int before = 0;
  if (stored && !replan) {
    const auto found = stored->numerics.find(kLaneThreads);
    if (found != stored->numerics.end()) before = std::atoi(found->second.c_str());
  }
  const int mine = choose_lane_threads(options.lane_threads, before, options.reproducible,
                                       options.threads.compute, batches.micro_batches());
  std::vector<double> of_root(1, comm.rank() == 0 ? mine : 0.0);
  comm.all_reduce(of_root);
  return static_cast<int>(of_root[0]);
}

// "2 1": lanes of each rank.
std::string lanes_of_ranks(std::size_t mine, comm::Communicator& comm) {
  std::vector<double> lanes(static_cast<std::size_t>(comm.size()), 0.0);
  lanes[static_cast<std::size_t>(comm.rank())] = static_cast<double>(mine);
  comm.all_reduce(lanes);
  std::string text;
  for (const double count : lanes) {
    text += (text.empty() ? "" : " ") + std::to_string(static_cast<int>(count));
  }
  return text;
}

}  // namespace

void check_execution(const ExecutionOptions& options, const Backend& backend) {
  if (backend.is_on_cpu()) {
    check_cpu_dtype(options.dtype);
  } else if (options.lane_threads > 0) {
    throw UsageError("lanes of " + std::to_string(options.lane_threads) +
                     " threads are for backends that compute on the CPU: " +
                     std::string(backend.name()) + " has none, leave out --lane-threads");
  }
}

Execution plan_execution(const TrainOptions& options, const BatchPlan& batches,
                         const Backend& backend, const std::optional<RunPlan>& stored,
                         comm::Communicator& comm) {
  const ExecutionOptions& e = options.execution;
  Execution plan;
  if (backend.is_on_cpu()) {
    plan.lane_threads = agree_on_lane_threads(e, batches, stored, options.run.replan, comm);
    plan.lanes = choose_lanes(e.threads.compute, plan.lane_threads, batches.micro_batches());
  } else {
    plan.lanes = {static_cast<int>(batches.micro_batches())};
  }
  plan.plan.numerics = {{"backend", std::string(backend.name())},
                        {"build", std::string(build_name())},
                        {"instruction_set", backend.instruction_set()},
                        {kLaneThreads, std::to_string(plan.lane_threads)},
                        {"library", backend.library()}};
  plan.plan.layout = {{"bucket_bytes", std::to_string(e.bucket_bytes)},
                      {"colors", std::to_string(e.schedule_options.colors)},
                      {"lanes", lanes_of_ranks(plan.lanes.size(), comm)},
                      {"schedule", e.schedule},
                      {"segment_elements", std::to_string(e.schedule_options.segment_elements)}};
  return plan;
}

StepOptions step_options(const TrainOptions& options, const BatchPlan& batches,
                         const Execution& execution, bool asynchronous) {
  return {.bucket_bytes = options.execution.bucket_bytes,
          .reproducible = options.execution.reproducible,
          .asynchronous = asynchronous,
          .sum = {.schedule = &comm::find_schedule(options.execution.schedule),
                  .schedule_options = options.execution.schedule_options,
                  .micro_batches = execution.lanes,
                  .total_micro_batches = batches.batch / batches.micro_batch}};
}

std::string in_words(const Execution& execution, const BatchPlan& batches, const Backend& backend) {
  const std::string micro_batches =
      " on rank 0, micro-batches of " + std::to_string(batches.micro_batch);
  if (!backend.is_on_cpu()) return backend.instruction_set() + micro_batches;
  const std::size_t lanes = execution.lanes.size();
  return std::to_string(lanes) + (lanes == 1 ? " lane of " : " lanes of ") +
         std::to_string(execution.lane_threads) +
         (execution.lane_threads == 1 ? " thread" : " threads") + micro_batches;
}

}  // namespace winnow::train
