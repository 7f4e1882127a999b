#pragma once

#include <vector>

#include "train/graph/graph.h"

namespace winnow::train {

// The stages of a graph with local losses. Stage k ends with the value that local loss k is `of`;
// the last stage ends with the net's own loss. A graph without local losses is one stage.
struct Stages {
  int count = 1;
  // Stage of each value, from 0: the stage of the first loss that it leads to; -1 for values that
  // lead to none, such as gradients.
  std::vector<int> of_value;
  // Stage of each node, from 0. A node that leads to no loss, as in a backward pass, belongs to the
  // last stage that it reads anything from.
  std::vector<int> of_node;
};

// Finds the stages of a forward or differentiated graph. A head belongs to the stage before it.
// Pure.
// Throws Error for a graph without a loss.
Stages find_stages(const Graph& graph);

// The outputs that are losses of the stages, in order: local ones, then the net's own.
std::vector<Output> losses_of_stages(const Graph& graph);

}  // namespace winnow::train
