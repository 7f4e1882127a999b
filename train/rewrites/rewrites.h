#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "train/graph/graph.h"

namespace winnow::train {

// All are pure: from a graph to a new one. Values that both graphs compute are equal.

// Merges chains batch_norm -> [add ->] relu into one batch norm with residual and relu, if the
// inner values have no other reader. Run it before differentiate.
Graph fuse(const Graph& graph);

// Excludes the parameters and buffers named in `tensors` from training. For forward graphs.
//
// Parameters   Become buffers, so that differentiate computes nothing for them alone.
// Statistics   Batch statistics for running statistics are no longer outputs.
// Batch norms  A batch norm that is frozen as a whole, with nothing trained before it, uses the
//              running statistics, as in evaluation.
// Names that the graph does not have are ignored.
Graph freeze(const Graph& graph, const std::vector<std::string>& tensors);

// Appends the backward pass of the graph's kLoss output.
//
// Out     A kGradient output for every parameter that the loss depends on, as early as possible.
//         Data gradients that are not needed are not computed.
// Ids     Existing values and nodes keep their numbers.
// Order   Contributions of several readers are summed in the order of the backward pass, so results
//         are the same in every run.
// Throws  Error, naming the node: there is no loss, or something on its path has no gradient.
Graph differentiate(const Graph& graph);

// A loss, and the values where its gradient stops: it does not reach anything before them.
struct LossReach {
  ValueId loss = -1;
  std::vector<ValueId> ends{};
};

// As differentiate(graph), for several losses: one backward pass after the other.
//
// Out  One kGradient output for every parameter that any of them updates. Gradients of several
//      losses are added in order. Data gradients are computed for each loss separately.
Graph differentiate(const Graph& graph, const std::vector<LossReach>& losses);

// The losses of a graph with local heads (train/graph/stages.h). Each updates its own stage with
// its head, and `neighbours` stages before it. Without heads: the one loss, which updates
// everything.
std::vector<LossReach> local_losses(const Graph& forward, int neighbours);

// Sorts the nodes of a differentiated graph by stage: a stage's forward pass, its head's, the
// backward pass of its loss; then the next stage. So the values of one stage are no longer needed
// when the next begins. Nodes of one stage keep their order; a graph of one stage is unchanged.
Graph order_by_stage(const Graph& graph);

// Stage `stage` of a differentiated graph in the order of stages, as a graph of its own. No
// gradient may leave a stage.
//
// Input    "pixels": the value at the end of the stage before
// Outputs  The value at its own end, of kind kValue; its head's loss and logits as the graph's
// Kept     Parameters and buffers of all stages
//
// Throws Error: there is no such stage.
Graph at_stage(const Graph& graph, int stage);

// The graph that predicts by local head `head`, counted from 1, instead of the net: the head's loss
// and logits become the graph's, and it reads the input "weights". The other heads are removed.
// Throws UsageError that says how many heads there are.
Graph at_head(const Graph& forward, int head);

// Makes the batch norms of a differentiated graph work on all micro-batches of a step, as PyTorch's
// SyncBatchNorm. Each is done in steps (kBatchNormStatistics in train/ops/batch_norm.h). Between
// them are outputs kSharedMean and kSharedVariance, which the step combines over micro-batches.
//
// micro_batches  Their number in a step; sets the element count of running variances.
// With one micro-batch, values are as before.
Graph synchronize_batch_norms(const Graph& graph, std::int64_t micro_batches);

// The graph for evaluation. Batch norms use their running statistics; the loss stays. Outputs of
// statistics, gradients and local heads are removed, with everything that only they need.
// Throws Error if a batch norm's mean and variance are not outputs of the graph, because then its
// buffers are unknown.
Graph for_inference(const Graph& graph);

// Drops nodes whose values reach no output, and inputs that nothing reads. Renumbers the values.
// Parameters and buffers stay.
Graph prune(const Graph& graph);

}  // namespace winnow::train
