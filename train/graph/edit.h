#pragma once

#include <vector>

#include "train/graph/graph.h"

namespace winnow::train {

// What rewrites share. A rewrite edits a copy in place: it changes nodes, marks some as dropped,
// and ends with compacted().

// How often nodes read each value.
std::vector<int> reader_counts(const Graph& graph);

// Whether each value is among the graph's outputs.
std::vector<bool> is_output(const Graph& graph);

// The graph without the nodes marked in `dropped` and without the values that then are neither
// produced nor, in the case of inputs, read; the rest renumbered in order. Throws Error when a node
// or an output left needs a computed value that nothing produces any more.
Graph compacted(const Graph& graph, const std::vector<bool>& dropped);

}  // namespace winnow::train
