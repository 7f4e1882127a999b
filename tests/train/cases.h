#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "train/graph/graph.h"
#include "train/ops/cases.h"

namespace winnow::train {

// Cases for every operation of train/ops, forward and backward, with odd sizes, strides, paddings
// and options. Filters, scales, shifts and biases are parameters, running statistics buffers, the
// rest inputs. The same in every run.
std::vector<OpCase> op_cases();

// Random numbers for every input, parameter and buffer of a whole net: parameters about as large as
// initial ones but no zeros and ones, bytes in [0, 255], "targets" one-hot, "weights" 1/N.
std::map<ValueId, std::vector<double>> random_inputs(const Graph& graph, std::uint64_t seed);

}  // namespace winnow::train
