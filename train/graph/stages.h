#pragma once

#include <vector>

#include "train/graph/graph.h"

namespace winnow::train {

// The stages of a graph with local losses: stage k ends with the value that local loss k is `of`,
// the last stage with the net's own loss. A graph without local losses is one stage.
struct Stages {
  int count = 1;
  // From 0. A value: of the first loss it leads to; -1: it leads to none, as gradients.
  std::vector<int> of_value;
  // From 0. A node that leads to no loss, as those of a backward pass, is of the last stage that it
  // reads anything of.
  std::vector<int> of_node;
};

// Of a forward graph or a differentiated one. A head belongs to the stage that it stands behind.
// Throws Error for a graph without a loss. Pure.
Stages find_stages(const Graph& graph);

// The outputs with the losses of all stages, in their order: local ones, then the net's own.
std::vector<Output> losses_of_stages(const Graph& graph);

}  // namespace winnow::train
