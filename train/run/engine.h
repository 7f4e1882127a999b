#pragma once

#include <memory>
#include <span>
#include <vector>

#include "common/comm/communicator.h"
#include "train/backend/backend.h"
#include "train/backend/weights.h"
#include "train/model/model.h"
#include "train/run/execution.h"
#include "train/run/job.h"
#include "train/run/options.h"
#include "train/step/executor.h"

namespace winnow::train {

// A job's net on a backend: its numbers, compiled programs and the executor of steps. Compiling
// neither communicates nor touches a file.
class Engine {
 public:
  // `backend` and `comm` outlive it.
  Engine(const Job& job, const TrainOptions& options, const Execution& execution, Backend& backend,
         comm::Communicator& comm, Model model);

  StepExecutor& executor() noexcept { return *executor_; }
  // Lanes for evaluate().
  std::span<const std::unique_ptr<Program>> inference() const noexcept { return inference_; }

  // The numbers on the host. Between load_model() and store_model() only the backend has the
  // newest.
  Model& model() noexcept { return model_; }
  const Model& model() const noexcept { return model_; }
  void load_model() { weights_->load(); }    // after model() was changed
  void store_model() { weights_->store(); }  // before model() is read

 private:
  Model model_;
  std::unique_ptr<WeightStore> weights_;            // of model_
  std::vector<std::unique_ptr<Program>> programs_;  // a training program for each lane
  std::vector<std::unique_ptr<Program>> inference_;
  std::unique_ptr<StepExecutor> executor_;
};

}  // namespace winnow::train
