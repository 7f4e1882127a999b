#pragma once

#include "train/graph/graph.h"

namespace winnow::train {

// `norm`, a batch norm of `graph`, changed to use the running statistics that the graph's outputs
// name, instead of the batch's. Throws Error if there are none.
Node with_running_statistics(const Graph& graph, Node norm);

}  // namespace winnow::train
