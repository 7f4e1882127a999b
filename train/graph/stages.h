#pragma once

#include <vector>

#include "train/graph/graph.h"

namespace winnow::train {

// The stages of a graph with local losses (auxiliary losses inside the net). Stage k ends with the
// value to which local loss k belongs; the last stage ends with the net's own loss. A graph without
// local losses is one stage.
struct Stages {
  int count = 1;
  // For each value, its stage, from 0: that of the first loss that depends on it. -1 for values on
  // which no loss depends, such as gradients.
  std::vector<int> of_value;
  // For each node, its stage, from 0. A node on which no loss depends, as in a backward pass,
  // belongs to the last stage from which it reads.
  std::vector<int> of_node;
};

// Finds the stages of a forward or differentiated graph. A local head (auxiliary classifier)
// belongs to the stage before it. Pure.
// Throws  Error for a graph without a loss.
Stages find_stages(const Graph& graph);

// Returns the stage of each parameter and buffer of a forward graph, in the order of the graph: the
// one that reads it, or computes its statistics. 0 for one that no stage uses. Pure.
std::vector<int> stages_of_tensors(const Graph& forward);

// Returns the outputs that are losses, in the order of the stages: losses of local heads (auxiliary
// classifiers), then the net's own.
std::vector<Output> losses_of_stages(const Graph& graph);

}  // namespace winnow::train
