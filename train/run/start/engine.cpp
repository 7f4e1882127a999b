#include "train/run/start/engine.h"

#include <algorithm>
#include <limits>

#include "train/model/initial_weights.h"
#include "train/optim/clip.h"
#include "train/optim/optimizer.h"
#include "train/plan/lanes.h"
#include "train/rewrites/rewrites.h"

namespace winnow::train {

InferenceLanes inference_lanes(const Job& job, const ExecutionOptions& options, int lane_threads,
                               bool is_on_cpu, int ranks) {
  if (!is_on_cpu || !options.reproducible) {
    return {1, options.reproducible ? lane_threads : options.threads.compute};
  }
  std::size_t most = 0;  // largest number of samples of a split
  for (const auto& [split, set] : job.data.evaluation_sets) {
    most = std::max(most, set.samples.ids.size());
  }
  const auto part =
      static_cast<std::size_t>(job.batches.micro_batch) * static_cast<std::size_t>(ranks);
  const auto micro_batches = static_cast<std::int64_t>((most + part - 1) / part);
  const auto lanes =
      choose_lanes(options.threads.compute, lane_threads, std::max<std::int64_t>(1, micro_batches),
                   std::numeric_limits<int>::max());
  return {static_cast<int>(lanes.size()), lane_threads};
}

JobGraphs graphs_of(const Job& job, const Model& model) {
  const Graph forward = freeze(job.forward, frozen_tensors(model));
  const LocalSetup& local = job.setup.local;
  Graph training =
      prune(order_by_stage(differentiate(forward, local_losses(forward, local.neighbours()))));
  if (job.sync_bn) {
    training = synchronize_batch_norms(training, job.batches.batch / job.batches.micro_batch);
  }
  // If a loss updates several stages, they share one loss scale.
  return {std::move(training), for_inference(job.forward), job.batches.total_steps,
          local.neighbours() > 0 ? 1 : static_cast<int>(local.stages())};
}

JobGraphs graphs_at(int rank, const Job& job, const JobGraphs& graphs) {
  if (!job.ranks.is_pipeline()) return graphs;
  const int stage = job.ranks.stage_of(rank);
  return {at_stage(graphs.training, stage), at_stage_for_inference(job.forward, stage),
          graphs.total_steps, 1};
}

void Engine::swap_ema() {
  store_model();
  train::swap_ema(model_);
  load_model();
}

std::optional<std::string> note_on_kernels(const KernelChoices& kernels) {
  std::size_t slow = 0;
  std::string one;
  for (const auto& [layer, kernel] : kernels) {
    // oneDNN's reference, and the CUDA backend's loops that replace missing cuDNN kernels.
    if (!kernel.starts_with("ref") && kernel != "own loops") continue;
    if (slow++ == 0) one = layer + " (" + kernel + ")";
  }
  if (slow == 0) return std::nullopt;
  return std::to_string(slow) + " of " + std::to_string(kernels.size()) + " layers " +
         (slow == 1 ? "has no fast kernel here and is" : "have no fast kernel here and are") +
         " computed by plain loops: " + one +
         (slow > 1 ? " and others, see kernels in plan.json" : "");
}

double Engine::weight_norm() {
  store_model();
  std::vector<std::span<float>> parameters;
  for (Model::Tensor& t : model_.tensors) {
    if (t.about.kind == ValueKind::kParameter) parameters.emplace_back(t.data);
  }
  return norm_of(parameters);
}

Engine::Engine(const JobGraphs& graphs, const RecipeOptions& recipe, EnginePlan plan,
               Backend& backend, comm::Communicator& comm, Model model)
    : model_(std::move(model)),
      weights_(
          place_weights(backend, model_,
                        {&find_optimizer(recipe.optimizer), recipe.options, graphs.total_steps})) {
  const Numerics& numerics = plan.numerics;
  CompileOptions lane{numerics.dtype, numerics.lane_threads};
  if (!numerics.kernels.empty()) lane.choices = &numerics.kernels;
  programs_ = backend.compile_lanes(graphs.training, lane,
                                    static_cast<int>(plan.execution.micro_batches.size()));
  for (const std::unique_ptr<Program>& program : programs_) weights_->bind(*program);
  inference_ = backend.compile_lanes(graphs.inference, {numerics.dtype, plan.evaluation_threads},
                                     plan.execution.evaluation_lanes);
  for (const std::unique_ptr<Program>& program : inference_) weights_->bind(*program);
  executor_ = std::make_unique<StepExecutor>(programs_, model_, *weights_, comm,
                                             std::move(plan.execution), clip_from(recipe.options));
  executor_->set_seed(recipe.seed);
  executor_->set_loss_scales(
      std::vector<LossScale>(static_cast<std::size_t>(graphs.loss_scales),
                             first_loss_scale(numerics.dtype, plan.loss_scale)));
}

}  // namespace winnow::train
