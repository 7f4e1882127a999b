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

// Messages between the stages of a pipeline, so that every rank knows the whole run. Each rank
// holds all tensors of the net; only those of its own stage are up to date. Does nothing without a
// pipeline. All calls are collective.
class StagesTogether {
 public:
  // `training`: the graph of the whole net. `ranks` and `comm` must outlive this.
  StagesTogether(const RankStages& ranks, const Graph& training, const Model& model,
                 comm::Communicator& comm);

  // Takes a step of this rank's stage, by calling `step`. In a pipeline `result` becomes that of
  // the whole net: `score` is the last stage's, `heads` has the scores of the local heads of the
  // stages before it. Out  nullopt if all numbers are finite. Otherwise the findings of this stage,
  // or, if only
  //      another stage has such numbers, no more than the name of the tensor.
  std::optional<NotFiniteFindings> share(StepResult& result,
                                         const std::function<StepResult()>& step);

  // Takes each tensor, its optimiser state and averages from the first rank of its stage.
  void gather(Engine& engine);

  // Takes the state of each stage's sums and its loss scale from the first rank of the stage.
  void gather(RunState& state);

  // The norm over all stages, from the norm of each stage's own numbers.
  double norm(double own);

  // The current norm of all parameters.
  double weight_norm(Engine& engine);

  // True if this rank sends the data of its stage.
  bool is_first() const { return ranks_.first_rank(stage_) == comm_.rank(); }

 private:
  void tell(StepResult& result, std::optional<NotFiniteFindings>& found);

  const RankStages& ranks_;
  comm::Communicator& comm_;
  const int stage_;         // stage of this rank
  std::vector<int> owner_;  // stage of each tensor of the model
};

}  // namespace winnow::train
