#pragma once

#include <vector>

#include "train/graph/graph.h"

namespace winnow::train {

// Helpers of graph rewrites. A rewrite edits a copy of the graph: it changes nodes, marks some as
// dropped, and calls compacted() at the end.

// For each value of the graph, how many times nodes read it.
std::vector<int> reader_counts(const Graph& graph);

// For each value of the graph, whether it is a graph output.
std::vector<bool> is_output(const Graph& graph);

// Returns the graph without the nodes marked in `dropped`, renumbered in order. Also removes values
// that no node produces any more, and inputs that no node reads.
// Throws  Error if a remaining node or output needs a value that is no longer computed.
Graph compacted(const Graph& graph, const std::vector<bool>& dropped);

}  // namespace winnow::train
