#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/comm/communicator.h"
#include "train/backend/backend.h"
#include "train/backend/weights.h"
#include "train/model/model.h"
#include "train/plan/run_plan.h"
#include "train/run/options.h"
#include "train/run/start/job.h"
#include "train/step/executor.h"

namespace winnow::train {

// The graphs that a training job compiles.
struct JobGraphs {
  Graph training;  // forward, loss and gradients of the trained tensors
  Graph inference;
  std::int64_t total_steps = 1;  // number of steps of the run, which weight updates may depend on
  int loss_scales = 1;  // number of loss scales: that of the stages if each has its own, else 1
};
JobGraphs graphs_of(const Job& job, const Model& model);

// Returns the graphs that a rank compiles: those of `graphs`, or of its stage of a pipeline alone.
JobGraphs graphs_at(int rank, const Job& job, const JobGraphs& graphs);

// The lanes (replicas of the program) that evaluate micro-batches in parallel, with `threads`
// threads each.
struct InferenceLanes {
  int lanes = 1;
  int threads = 1;
};
// Divides all threads of a rank into evaluation lanes (parallel replicas of the program).
// In a reproducible run no lane gets more than `lane_threads` threads, because the number of
// threads affects the bits of a micro-batch's results.
InferenceLanes inference_lanes(const Job& job, const ExecutionOptions& options, int lane_threads,
                               bool is_on_cpu, int ranks);

// Returns a user-facing sentence if the backend's library has no fast kernel for some layers: their
// number, and an example.
std::optional<std::string> note_on_kernels(const KernelChoices& kernels);

// How an engine computes on one rank.
struct EnginePlan {
  Numerics numerics;  // types, and kernels to impose if the backend supports it
  Execution execution;
  int evaluation_threads = 1;  // threads of each evaluation lane (replica of the program)
  double loss_scale = 0;       // fixed loss scale of f16; 0: adaptive, see ExecutionOptions
};

// A net ready to train on a backend: its weights, compiled programs, and the executor of steps.
// Compiling neither communicates nor accesses files.
class Engine {
 public:
  // Compiles `graphs`. Weights are updated according to `recipe`. `backend` and `comm` must outlive
  // this object.
  Engine(const JobGraphs& graphs, const RecipeOptions& recipe, EnginePlan plan, Backend& backend,
         comm::Communicator& comm, Model model);

  // The kernels chosen for training. The kernels for evaluation are left out: they depend on each
  // rank's own threads, and change no weight.
  KernelChoices kernels() const { return programs_.front()->choices(); }

  StepExecutor& executor() noexcept { return *executor_; }
  // The programs that evaluate() runs in parallel.
  std::span<const std::unique_ptr<Program>> inference() const noexcept { return inference_; }

  // The weights on the host. Between load_model() and store_model() they are out of date: only the
  // backend has the newest ones.
  Model& model() noexcept { return model_; }
  const Model& model() const noexcept { return model_; }
  // Copies the weights of model() to the backend, after they were changed.
  void load_model() { weights_->load(); }
  // Copies the weights from the backend to model(), before it is read.
  void store_model() { weights_->store(); }

  // Returns the L2 norm of all parameters together. Copies them from the backend to the host.
  double weight_norm();

  // Swaps the weights with their moving averages, on the backend too. Call it before evaluating the
  // averages and again afterwards.
  bool has_ema() const noexcept { return !model_.tensors.front().ema.empty(); }
  void swap_ema();

 private:
  Model model_;
  std::unique_ptr<WeightStore> weights_;  // owns the weights on the backend, and refers to model_
  // Training programs, one for each lane (parallel replica).
  std::vector<std::unique_ptr<Program>> programs_;
  std::vector<std::unique_ptr<Program>> inference_;
  std::unique_ptr<StepExecutor> executor_;
};

}  // namespace winnow::train
