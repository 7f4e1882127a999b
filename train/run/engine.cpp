#include "train/run/engine.h"

#include "train/graph/rewrites.h"
#include "train/model/initial_weights.h"
#include "train/optim/optimizer.h"

namespace winnow::train {

JobGraphs graphs_of(const Job& job, const Model& model) {
  return {prune(differentiate(freeze(job.forward, frozen_tensors(model)))),
          for_inference(job.forward)};
}

Engine::Engine(const JobGraphs& graphs, const TrainOptions& options, const Numerics& numerics,
               Execution execution, Backend& backend, comm::Communicator& comm, Model model)
    : model_(std::move(model)),
      weights_(place_weights(
          backend, model_,
          {find_optimizer(options.recipe.optimizer).kind, options.recipe.optimizer_options})) {
  const ExecutionOptions& e = options.execution;
  CompileOptions lane{numerics.dtype, numerics.lane_threads};
  if (!numerics.kernels.empty()) lane.choices = &numerics.kernels;
  programs_ = backend.compile_lanes(graphs.training, lane,
                                    static_cast<int>(execution.micro_batches.size()));
  for (const std::unique_ptr<Program>& program : programs_) weights_->bind(*program);
  inference_ = backend.compile(graphs.inference,
                               {e.dtype, e.reproducible ? lane.threads : e.threads.compute});
  weights_->bind(*inference_);
  executor_ =
      std::make_unique<StepExecutor>(programs_, model_, *weights_, comm, std::move(execution));
}

}  // namespace winnow::train
