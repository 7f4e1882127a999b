#pragma once

#include "train/graph/graph.h"

namespace winnow::train {

// `norm`, a batch norm of `graph`, as a batch norm with the running statistics that the graph's
// outputs name, in place of the batch's. Throws Error when there are none.
Node with_running_statistics(const Graph& graph, Node norm);

}  // namespace winnow::train
