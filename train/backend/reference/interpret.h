#pragma once

#include <map>
#include <vector>

#include "train/graph/graph.h"

namespace winnow::train {

// Interprets a graph in float64, naively: the oracle for every operation, rewrite and backend.
// `inputs` gives every input, parameter and state that is read, in memory order (activations and
// pixels NHWC, parameters logical). Returns every value in the same order, indexed by ValueId.
// Throws ShapeError when something is missing or of the wrong size.
std::vector<std::vector<double>> interpret(const Graph& graph,
                                           const std::map<ValueId, std::vector<double>>& inputs);

}  // namespace winnow::train
