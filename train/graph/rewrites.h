#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "train/graph/graph.h"

namespace winnow::train {

// All pure: a graph in, a graph (or a plan) out; values computed by both are equal.

// batch_norm -> [add ->] relu chains become one batch_norm with residual and relu, where the inner
// values have no other reader. Run before differentiate.
Graph fuse(const Graph& graph);

// Takes the parameters and states named in `tensors` out of training, on a forward graph: frozen
// parameters become states, so that differentiate computes nothing for them alone; running
// statistics among them have no batch statistic as output any more. A batch norm that is frozen as
// a whole and has nothing trained before it takes the running statistics, as in evaluation. Names
// the graph does not have are passed over.
Graph freeze(const Graph& graph, const std::vector<std::string>& tensors);

// Appends the backward of the graph's kLoss output and a kGradient output for every parameter that
// the loss depends on, as early as each can be had; data gradients nobody needs are not computed.
// Values and nodes there already keep their numbers. Contributions of several readers are summed in
// the order of the backward pass, so the result is the same in every run. Throws Error, naming the
// node, when there is no loss or something on the way to it has no gradient.
Graph differentiate(const Graph& graph);

// Batch norms take their statistics from the running states; loss stays, outputs of statistics and
// gradients and all that only they need go. For evaluation. Throws Error when a batch norm's mean
// and variance are not outputs of the graph, for then its states are unknown.
Graph for_inference(const Graph& graph);

// Nodes whose values reach no output and inputs that nothing reads are dropped, values renumbered
// (states and parameters stay).
Graph prune(const Graph& graph);

// Where the computed values live: one arena, offsets fixed before the first step, values with
// disjoint lifetimes sharing bytes. Inputs, parameters, states and graph outputs live outside.
struct MemoryPlan {
  static constexpr std::size_t kOutside = static_cast<std::size_t>(-1);
  static constexpr std::size_t kAlignment = 64;
  std::vector<std::size_t> offsets;  // per value, bytes; kOutside
  std::size_t arena_bytes = 0;
  std::size_t lower_bound_bytes = 0;  // the largest sum of live values at one node
};
MemoryPlan plan_memory(const Graph& graph, DType compute);

}  // namespace winnow::train
