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

// Convolutions and linear layers in each pass, with channel counts for tensor cores. Their random
// numbers have all of f32's bits: those of op_cases() are exact in tf32 and bf16, and so are most
// sums of their products, so that no rounding shows.
std::vector<OpCase> wide_product_cases();

// Random numbers for every input, parameter and buffer of a whole net: parameters about as large as
// initial ones but no zeros and ones, bytes in [0, 255], "targets" one-hot, "weights" 1/N.
std::map<ValueId, std::vector<double>> random_inputs(const Graph& graph, std::uint64_t seed);

}  // namespace winnow::train
