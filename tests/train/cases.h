#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "train/graph/graph.h"

namespace winnow::train {

// One operation with everything it reads: the same table serves the finite differences of the
// reference and the comparison of every other backend with it.
struct OpCase {
  std::string name;                               // unique, an identifier: "conv2d_odd_width"
  Graph graph;                                    // one node
  std::map<ValueId, std::vector<double>> inputs;  // every value it reads, in memory order
  std::vector<ValueId> outputs;  // what to compare; also outputs of the graph, as kValue
};

// Every operation, forward and backward, over odd sizes, strides, paddings and options. Inputs are
// multiples of 1/128 in [-1, 1], so exact in bf16 (statistics and derived values: exact in f32);
// filters, scales, shifts and biases are parameters, running statistics states, the rest inputs.
// The same in every run.
std::vector<OpCase> op_cases();

// Random numbers for every input, parameter and state of a graph, for whole nets: parameters about
// as large as initial ones but no zeros and ones, bytes in [0, 255], "targets" one-hot, "weights"
// 1/N.
std::map<ValueId, std::vector<double>> random_inputs(const Graph& graph, std::uint64_t seed);

}  // namespace winnow::train
