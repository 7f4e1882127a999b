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

// The graphs that a job's run compiles.
struct JobGraphs {
  Graph training;  // differentiated for the trained tensors of `model`
  Graph inference;
  std::int64_t total_steps = 1;  // steps of the run, on which updates of the weights may depend
  int loss_scales = 1;           // number of stages, if each has its own loss scale
};
JobGraphs graphs_of(const Job& job, const Model& model);

// The graphs that a rank of this stage compiles: for training the stage, for inference the whole
// net.
JobGraphs at_stage(const JobGraphs& graphs, int stage);

// Evaluation lanes, with `threads` threads each.
struct InferenceLanes {
  int lanes = 1;
  int threads = 1;
};
// Evaluation uses all threads. In a reproducible run no lane has more threads than a training lane,
// on any machine, because the number of threads affects the bits of a micro-batch.
InferenceLanes inference_lanes(const Job& job, const ExecutionOptions& options, int lane_threads,
                               bool is_on_cpu, int ranks);

// A user-facing sentence if layers have no fast kernel in the backend's library: their number, and
// an example.
std::optional<std::string> note_on_kernels(const KernelChoices& kernels);

// How an engine computes on this rank.
struct EnginePlan {
  Numerics numerics;  // kernels that it names are imposed, if the backend supports it
  Execution execution;
  int evaluation_threads = 1;  // for each lane
  double loss_scale = 0;       // see ExecutionOptions
};

// A job's net on a backend: its weights, compiled programs, and the executor of steps. Compiling
// neither communicates nor accesses files.
class Engine {
 public:
  // Updates weights according to `recipe`. `backend` and `comm` must outlive this.
  Engine(const JobGraphs& graphs, const RecipeOptions& recipe, EnginePlan plan, Backend& backend,
         comm::Communicator& comm, Model model);

  // The kernels of training. Those of evaluation depend on each rank's own threads and change no
  // weight.
  KernelChoices kernels() const { return programs_.front()->choices(); }

  StepExecutor& executor() noexcept { return *executor_; }
  // Lanes for evaluate().
  std::span<const std::unique_ptr<Program>> inference() const noexcept { return inference_; }

  // The weights on the host. Between load_model() and store_model(), only the backend has the
  // newest ones.
  Model& model() noexcept { return model_; }
  const Model& model() const noexcept { return model_; }
  void load_model() { weights_->load(); }    // after changes of model()
  void store_model() { weights_->store(); }  // before model() is read

  // The current L2 norm of all parameters together. Copies them to the host.
  double weight_norm();

  // Swaps moving averages and weights, on the backend too: once before evaluating the averages, and
  // once after.
  bool has_ema() const noexcept { return !model_.tensors.front().ema.empty(); }
  void swap_ema();

 private:
  Model model_;
  std::unique_ptr<WeightStore> weights_;            // holds model_
  std::vector<std::unique_ptr<Program>> programs_;  // a training program for each lane
  std::vector<std::unique_ptr<Program>> inference_;
  std::unique_ptr<StepExecutor> executor_;
};

}  // namespace winnow::train
