#pragma once

#include "train/graph/graph.h"

namespace winnow::train {

// Returns a copy of `norm`, a batch norm of `graph`, that uses running statistics instead of the
// batch's. The graph's outputs name the buffers that hold them. Throws Error if there are none.
Node with_running_statistics(const Graph& graph, Node norm);

}  // namespace winnow::train
