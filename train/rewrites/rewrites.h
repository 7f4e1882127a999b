#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "train/graph/graph.h"

namespace winnow::train {

// All pure: a graph in, a graph out. Values that both graphs compute are equal.

// Makes batch_norm -> [add ->] relu chains one batch norm with residual and relu, where the inner
// values have no other reader. Run before differentiate.
Graph fuse(const Graph& graph);

// Takes the parameters and buffers named in `tensors` out of training; on a forward graph.
//
// Parameters   become buffers: differentiate computes nothing for them alone.
// Statistics   running statistics have no batch statistic as output any more.
// Batch norms  one that is frozen as a whole and has nothing trained before it takes the running
//              statistics, as in evaluation.
// Names that the graph does not have are passed over.
Graph freeze(const Graph& graph, const std::vector<std::string>& tensors);

// Appends the backward of the graph's kLoss output.
//
// Out     a kGradient output for every parameter that the loss depends on, as early as it can be
//         had. Data gradients that nobody needs are not computed.
// Ids     values and nodes that are there already keep their numbers.
// Order   contributions of several readers are summed in the order of the backward pass: the
//         result is the same in every run.
// Throws  Error, naming the node: there is no loss, or something on the way to it has no gradient.
Graph differentiate(const Graph& graph);

// A loss, and where its gradient ends: nothing before these values hears of it.
struct LossReach {
  ValueId loss = -1;
  std::vector<ValueId> ends{};
};

// The same of several losses, one backward pass behind the other.
//
// Out     one kGradient output for every parameter that any of them moves. Those of several losses
//         are added in their order; data gradients are each loss's own, so computed more than once.
Graph differentiate(const Graph& graph, const std::vector<LossReach>& losses);

// The losses of a graph with local heads (train/graph/stages.h). Each moves its own stage with its
// head and `neighbours` stages before it. Without heads: the one loss, which moves everything.
std::vector<LossReach> local_losses(const Graph& forward, int neighbours);

// The nodes of a differentiated graph in the order of stages: a stage forward, its head forward,
// its loss backward, then the next stage. The first stage's values are done with before the second
// begins. Nodes of one stage keep their order; a graph of one stage stays as it is.
Graph order_by_stage(const Graph& graph);

// What head `head` of a graph with local heads, counted from 1, says in place of the net: it reads
// the input "weights", its loss and logits are the graph's. The other heads are gone.
// Throws UsageError naming how many there are.
Graph at_head(const Graph& forward, int head);

// Batch norms of a differentiated graph over all micro-batches of a step, as PyTorch's
// SyncBatchNorm. Each is done in steps (kBatchNormStatistics in train/ops/batch_norm.h) with
// outputs kSharedMean and kSharedVariance between them, which the step brings together over
// micro-batches.
//
// In      `micro_batches`: of a step, for the elements behind a running variance
// Values  with one micro-batch the same as before
Graph synchronize_batch_norms(const Graph& graph, std::int64_t micro_batches);

// For evaluation: batch norms take their statistics from the running buffers; the loss stays;
// outputs of statistics, gradients and local heads go, and all that only they need.
// Throws Error when a batch norm's mean and variance are not outputs of the graph: its buffers are
// unknown then.
Graph for_inference(const Graph& graph);

// Drops nodes whose values reach no output and inputs that nothing reads, and renumbers the values.
// Parameters and buffers stay.
Graph prune(const Graph& graph);

}  // namespace winnow::train
