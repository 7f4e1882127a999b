#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "train/graph/graph.h"
#include "train/ops/cases.h"

namespace winnow::train {

// The cases of every operation of train/ops, forward and backward. The same in every run.
// Sizes         Odd extents, and various strides, paddings and options.
// Parameters    Filters, scales, shifts and biases.
// Buffers       Running statistics. All other values are inputs.
std::vector<OpCase> op_cases();

// Random numbers for every input, parameter and buffer of a graph, for whole nets.
// Parameters    About as large as initial values, but no exact zeros or ones.
// Bytes         In [0, 255].
// "targets"     One-hot.
// "weights"     1/N.
std::map<ValueId, std::vector<double>> random_inputs(const Graph& graph, std::uint64_t seed);

}  // namespace winnow::train
