#pragma once

#include <map>
#include <span>
#include <vector>

#include "train/graph/graph.h"

namespace winnow::train {

// Interprets a graph in float64, naively: the oracle for every operation, rewrite and backend.
// `inputs` gives every input, parameter and state that is read, in memory order. Which order that
// is follows from the operation that reads or writes a value: data of rank 4 and its gradients
// NHWC, filters and their gradients logical. Returns every value in the same order, indexed by
// ValueId; those that are neither given nor computed are empty. Throws ShapeError when something is
// missing or of the wrong size.
std::vector<std::vector<double>> interpret(const Graph& graph,
                                           const std::map<ValueId, std::vector<double>>& inputs);

// One node: reads its inputs from `values`, assigns its outputs, which have their size already.
void interpret_node(const Graph& graph, const Node& node, std::span<std::vector<double>> values);

}  // namespace winnow::train
