#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "train/graph/graph.h"

namespace winnow::train {

// Rewrites of graphs. All are pure functions from a graph to a new one. Values that both graphs
// compute are equal.

// Merges chains batch_norm -> [add ->] relu into one batch norm node with residual and relu, if
// nothing else reads the inner values. Run it before differentiate().
Graph fuse(const Graph& graph);

// Excludes the parameters and buffers named in `tensors` from training. For forward graphs. Names
// that the graph does not have are ignored.
//
// Parameters   Become buffers, so that differentiate() computes no gradient for them.
// Statistics   For running statistics in `tensors`, the batch's statistics are no longer outputs.
// Batch norms  A batch norm that is frozen as a whole, with nothing trained before it, uses the
//              running statistics, as in evaluation.
Graph freeze(const Graph& graph, const std::vector<std::string>& tensors);

// Appends the backward pass of the graph's kLoss output.
//
// Out     A kGradient output for every parameter on which the loss depends, as early as possible.
//         Gradients of other values are computed only where they are needed for these.
// Ids     Existing values and nodes keep their numbers.
// Order   If several nodes read a value, its gradients are added in the order of the backward pass,
//         so results are the same in every run.
// Throws  Error, naming the node: there is no loss, or an operation between parameters and loss has
//         no gradient.
Graph differentiate(const Graph& graph);

// A loss, and the values at which its gradient stops. It does not flow to anything before them.
struct LossReach {
  ValueId loss = -1;
  std::vector<ValueId> ends{};
};

// Appends the backward passes of several losses, one after the other. Otherwise as
// differentiate(graph).
//
// Out  One kGradient output for every parameter that any of the losses updates. Gradients of
//      several losses are added in order. Gradients of other values are computed for each loss
//      separately.
Graph differentiate(const Graph& graph, const std::vector<LossReach>& losses);

// Returns the losses of a graph with local heads (auxiliary classifiers of stages,
// train/graph/stages.h). Each updates its own stage with its head, and `neighbours` stages before
// it. Without local heads: the net's loss, which updates everything.
std::vector<LossReach> local_losses(const Graph& forward, int neighbours);

// Sorts the nodes of a differentiated graph by stage: the forward pass of the stage and its local
// head (auxiliary classifier), then the backward pass of its loss; then the next stage. So memory
// of one stage can be reused when the next begins. Nodes of one stage keep their order; a graph of
// one stage is unchanged.
Graph order_by_stage(const Graph& graph);

// Extracts stage `stage` of a graph as a graph of its own. A differentiated graph must be in the
// order of order_by_stage(), and no gradient may flow between stages.
//
// Input    "pixels" stands for the value at the end of the stage before.
// Outputs  The value at the end of the stage, of kind kValue. Loss and logits of its local head
//          (auxiliary classifier) become the graph's.
// Kept     The parameters and buffers that the stage reads, or computes statistics of.
// Throws   Error: there is no such stage.
Graph at_stage(const Graph& graph, int stage);

// Returns the graph by which stage `stage` of a forward graph takes part in evaluation: as
// at_stage() and for_inference(), but without the local head (auxiliary classifier).
Graph at_stage_for_inference(const Graph& forward, int stage);

// Returns the graph that predicts by local head `head` (an auxiliary classifier, counted from 1)
// instead of the net's own classifier. The head's loss and logits become the graph's, and it reads
// the input "weights". The other heads are removed.
// Throws  UsageError, which says how many heads there are.
Graph at_head(const Graph& forward, int head);

// Makes the batch norms of a differentiated graph take their statistics over all micro-batches of a
// step, as PyTorch's SyncBatchNorm. Each pass of a batch norm is split in two nodes
// (train/ops/batch_norm.h). Between these are outputs kSharedMean and kSharedVariance, which the
// step combines over micro-batches.
//
// micro_batches  Number of micro-batches of a step; it sets the element count of running variances.
//                With 1, values do not change.
Graph synchronize_batch_norms(const Graph& graph, std::int64_t micro_batches);

// Returns the graph for evaluation. Batch norms use their running statistics; the loss stays.
// Outputs for statistics, gradients and local heads (auxiliary classifiers) are removed, with
// everything that only they need.
// Throws  Error if a batch norm's mean and variance are not outputs of the graph, because then its
//         buffers are unknown.
Graph for_inference(const Graph& graph);

// Removes nodes on which no output depends, and inputs that nothing reads. Renumbers the values.
// Parameters and buffers stay.
Graph prune(const Graph& graph);

}  // namespace winnow::train
