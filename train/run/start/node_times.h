#pragma once

#include <vector>

#include "train/backend/backend.h"

namespace winnow::train {

// Seconds from the start of a micro-batch to the end of each node of `graph`, on a single lane with
// nothing running beside it: the faster of two runs. Inputs are zeros, weights are random. Needs
// the memory of a lane meanwhile.
std::vector<double> measure_node_ends(Backend& backend, const Graph& graph,
                                      const CompileOptions& options);

}  // namespace winnow::train
