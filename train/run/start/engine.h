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
  Graph training;  // differentiated, for what of `model` is trained
  Graph inference;
  std::int64_t total_steps = 1;  // of the run, which updates of the weights may follow
  int loss_scales = 1;           // stages of the net, where each has its own
};
JobGraphs graphs_of(const Job& job, const Model& model);

// Lanes of evaluation, each with so many threads.
struct InferenceLanes {
  int lanes = 1;
  int threads = 1;
};
// Evaluation uses all threads. In a reproducible run no lane has more than a training lane,
// whatever the machine has: the threads of a lane decide the bits of a micro-batch.
InferenceLanes inference_lanes(const Job& job, const ExecutionOptions& options, int lane_threads,
                               bool is_on_cpu, int ranks);

// A sentence for people where layers have no fast kernel in the backend's library: how many, and
// one of them.
std::optional<std::string> note_on_kernels(const KernelChoices& kernels);

// How an engine computes on this rank.
struct EnginePlan {
  Numerics numerics;  // kernels that it names are imposed where the backend can
  Execution execution;
  int evaluation_threads = 1;  // of a lane
  double loss_scale = 0;       // see ExecutionOptions
};

// A job's net on a backend: its numbers, compiled programs and the executor of steps. Compiling
// neither communicates nor touches a file.
class Engine {
 public:
  // Updates weights by `recipe`. `backend` and `comm` outlive it.
  Engine(const JobGraphs& graphs, const RecipeOptions& recipe, EnginePlan plan, Backend& backend,
         comm::Communicator& comm, Model model);

  // Those of training. Evaluation's follow from each rank's own threads and change no weight.
  KernelChoices kernels() const { return programs_.front()->choices(); }

  StepExecutor& executor() noexcept { return *executor_; }
  // Lanes for evaluate().
  std::span<const std::unique_ptr<Program>> inference() const noexcept { return inference_; }

  // The numbers on the host. Between load_model() and store_model() only the backend has the
  // newest.
  Model& model() noexcept { return model_; }
  const Model& model() const noexcept { return model_; }
  void load_model() { weights_->load(); }    // after model() was changed
  void store_model() { weights_->store(); }  // before model() is read

  // The L2 norm of all parameters together, as they are now. Brings them to the host.
  double weight_norm();

  // The moving averages and the weights change places, on the backend too: once before the averages
  // are evaluated, once after.
  bool has_ema() const noexcept { return !model_.tensors.front().ema.empty(); }
  void swap_ema();

 private:
  Model model_;
  std::unique_ptr<WeightStore> weights_;            // of model_
  std::vector<std::unique_ptr<Program>> programs_;  // a training program for each lane
  std::vector<std::unique_ptr<Program>> inference_;
  std::unique_ptr<StepExecutor> executor_;
};

}  // namespace winnow::train
