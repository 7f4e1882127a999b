#pragma once

#include <vector>

#include "train/backend/backend.h"

namespace winnow::train {

// Measures when each node of `graph` ends, in seconds from the start of a micro-batch: the faster
// of two runs, on a single lane (replica of the program) with nothing else running. Inputs are
// zeros, weights are random. Needs the memory of a lane meanwhile.
std::vector<double> measure_node_ends(Backend& backend, const Graph& graph,
                                      const CompileOptions& options);

}  // namespace winnow::train
