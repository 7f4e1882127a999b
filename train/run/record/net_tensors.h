#pragma once

#include <functional>
#include <vector>

#include "common/comm/communicator.h"
#include "train/graph/graph.h"
#include "train/model/model.h"
#include "train/plan/rank_stages.h"

namespace winnow::train {

// The tensors of a net, and the ranks that hold them. In a pipeline, a rank holds those of its
// stage. Else every rank holds all.
class NetTensors {
 public:
  // Sets, or reads, the numbers of all tensors in the model that it is given: a part of the net.
  using Fill = std::function<void(Model& part)>;
  using Take = std::function<void(const Model& part)>;

  // net       All tensors of `forward`, which has the local heads (auxiliary classifiers) of its
  //           stages. Their numbers, if any, are not kept.
  // Lifetime  `ranks` and `comm` must outlive this object.
  NetTensors(const Graph& forward, const Model& net, const RankStages& ranks,
             comm::Communicator& comm);

  // Returns the tensors of `net` that this rank holds.
  Model held_here(const Model& net) const;

  // Gives `held`, this rank's tensors with their state and averages, the numbers that `fill` sets
  // on rank 0, for one part of the net after the other. Collective.
  // Memory  In a pipeline, that of one more tensor.
  // Throws  What `fill` throws, as on_root() says.
  void hand_out(Model& held, const Fill& fill) const;

  // Passes all tensors of the net, with their state and averages, to `take` on rank 0: one part
  // after the other, in the net's order. Each comes from the first rank that holds it. Collective.
  // Memory  In a pipeline, that of one more tensor.
  void gather(const Model& held, const Take& take) const;

 private:
  bool is_held_here(std::size_t tensor) const;
  Model part_of(std::size_t tensor, const Model& held) const;

  Model net_;               // without numbers
  std::vector<int> stage_;  // for each tensor of `net_`
  const RankStages& ranks_;
  comm::Communicator& comm_;
};

}  // namespace winnow::train
