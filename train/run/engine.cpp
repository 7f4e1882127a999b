#include "train/run/engine.h"

#include "train/graph/rewrites.h"
#include "train/model/initial_weights.h"
#include "train/optim/optimizer.h"

namespace winnow::train {

Engine::Engine(const Job& job, const TrainOptions& options, const Execution& execution,
               Backend& backend, comm::Communicator& comm, Model model)
    : model_(std::move(model)),
      weights_(place_weights(
          backend, model_,
          {find_optimizer(options.recipe.optimizer).kind, options.recipe.optimizer_options})) {
  const ExecutionOptions& e = options.execution;
  const CompileOptions lane{e.dtype, execution.lane_threads};
  const Graph graph = prune(differentiate(freeze(job.forward, frozen_tensors(model_))));
  for (std::size_t i = 0; i < execution.lanes.size(); ++i) {
    programs_.push_back(backend.compile(graph, lane));
    weights_->bind(*programs_.back());
  }
  inference_ = backend.compile(for_inference(job.forward),
                               {e.dtype, e.reproducible ? lane.threads : e.threads.compute});
  weights_->bind(*inference_);
  executor_ = std::make_unique<StepExecutor>(
      programs_, model_, *weights_, comm,
      step_options(options, job.batches, execution, !backend.is_on_cpu()));
}

}  // namespace winnow::train
