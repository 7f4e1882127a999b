#pragma once

#include <map>
#include <vector>

#include "train/graph/graph.h"

namespace winnow::train {

// Evaluates a graph in float64 by simple loops. It is the reference for every operation, rewrite
// and backend.
//
// In      Every input, parameter and buffer that is read, in memory order
//         (train/graph/reference.h).
// Out     Every value in memory order, indexed by ValueId; empty if it was neither given nor
//         computed.
// Throws  ShapeError: something is missing or has the wrong size.
std::vector<std::vector<double>> interpret(const Graph& graph,
                                           const std::map<ValueId, std::vector<double>>& inputs);

}  // namespace winnow::train
