#pragma once

#include <map>
#include <vector>

#include "train/graph/graph.h"

namespace winnow::train {

// Interprets a graph in float64, naively: the oracle for every operation, rewrite and backend.
//
// In      every input, parameter and buffer that is read, in memory order (train/graph/reference.h)
// Out     every value in the same order, indexed by ValueId; empty: neither given nor computed
// Throws  ShapeError: something is missing or of the wrong size
std::vector<std::vector<double>> interpret(const Graph& graph,
                                           const std::map<ValueId, std::vector<double>>& inputs);

}  // namespace winnow::train
