#include "train/run/engine.h"

#include <algorithm>

#include "train/graph/rewrites.h"
#include "train/model/initial_weights.h"
#include "train/optim/optimizer.h"

namespace winnow::train {
namespace {

struct LaneLayout {
  int lanes = 1;
  int threads = 1;  // of each lane
};

// Evaluation uses all threads. In a reproducible run no lane has more than a training lane,
// whatever the machine has: the threads of a lane decide the bits of a micro-batch.
LaneLayout inference_lanes(const Job& job, const ExecutionOptions& options, int lane_threads,
                           bool is_on_cpu, int ranks) {
  if (!is_on_cpu || !options.reproducible) {
    return {1, options.reproducible ? lane_threads : options.threads.compute};
  }
  std::size_t most = 0;  // samples of a split
  for (const auto& [split, set] : job.data.evaluation_sets) {
    most = std::max(most, set.samples.ids.size());
  }
  const auto part =
      static_cast<std::size_t>(job.batches.micro_batch) * static_cast<std::size_t>(ranks);
  const auto micro_batches = static_cast<std::int64_t>((most + part - 1) / part);
  const auto lanes =
      choose_lanes(options.threads.compute, lane_threads, std::max<std::int64_t>(1, micro_batches));
  return {static_cast<int>(lanes.size()), lane_threads};
}

}  // namespace

Engine::Engine(const Job& job, const TrainOptions& options, const Execution& execution,
               Backend& backend, comm::Communicator& comm, Model model)
    : model_(std::move(model)),
      weights_(place_weights(backend, model_,
                             {&find_optimizer(options.recipe.optimizer), options.recipe.options})) {
  const ExecutionOptions& e = options.execution;
  const CompileOptions lane{e.dtype, execution.lane_threads};
  const Graph graph = prune(differentiate(freeze(job.forward, frozen_tensors(model_))));
  for (std::size_t i = 0; i < execution.lanes.size(); ++i) {
    programs_.push_back(backend.compile(graph, lane));
    weights_->bind(*programs_.back());
  }
  const LaneLayout inference =
      inference_lanes(job, e, lane.threads, backend.is_on_cpu(), comm.size());
  for (int i = 0; i < inference.lanes; ++i) {
    inference_.push_back(backend.compile(for_inference(job.forward), {e.dtype, inference.threads}));
    weights_->bind(*inference_.back());
  }
  executor_ = std::make_unique<StepExecutor>(
      programs_, model_, *weights_, comm,
      step_options(options, job.batches, execution, !backend.is_on_cpu()));
}

}  // namespace winnow::train
