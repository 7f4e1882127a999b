#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "common/comm/communicator.h"
#include "train/plan/rank_stages.h"
#include "train/run/record/run_state.h"
#include "train/run/start/engine.h"
#include "train/step/executor.h"
#include "train/step/not_finite.h"

namespace winnow::train {

// What the stages of a pipeline tell each other, so that every rank knows the whole run. Each rank
// holds all tensors of the net; those of its own stage are new. Without a pipeline it does nothing.
// Collective, all of it.
class StagesTogether {
 public:
  // `training`: the whole net's. `ranks` and `comm` outlive this.
  StagesTogether(const RankStages& ranks, const Graph& training, const Model& model,
                 comm::Communicator& comm);

  // Takes a step of this rank's stage. `result` becomes that of all stages, with the heads of those
  // before the last. Out: what is not finite in this stage, or the tensor of another.
  std::optional<NotFiniteFindings> share(StepResult& result,
                                         const std::function<StepResult()>& step);

  // Takes each tensor, its optimiser state and averages from the first rank of its stage.
  void gather(Engine& engine);

  // The same of what a stage's sums and loss scale know.
  void gather(RunState& state);

  // The norm of numbers that each stage has a norm of.
  double norm(double own);

  // The norm of all parameters as they are now.
  double weight_norm(Engine& engine);

  // Whether this rank tells what its stage has.
  bool is_first() const { return ranks_.first_rank(stage_) == comm_.rank(); }

 private:
  void tell(StepResult& result, std::optional<NotFiniteFindings>& found);

  const RankStages& ranks_;
  comm::Communicator& comm_;
  const int stage_;         // this rank's
  std::vector<int> owner_;  // stage of each tensor of the model
};

}  // namespace winnow::train
