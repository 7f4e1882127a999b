#pragma once

#include <vector>

#include "train/graph/graph.h"

namespace winnow::train {

// Shared by rewrites. A rewrite edits a copy in place: it changes nodes, marks some as dropped, and
// ends with compacted().

// How many times nodes read each value.
std::vector<int> reader_counts(const Graph& graph);

// Whether each value is a graph output.
std::vector<bool> is_output(const Graph& graph);

// The graph without the nodes marked in `dropped`, renumbered in order. Also drops values that
// nothing produces any more, and inputs that nothing reads.
// Throws Error if a remaining node or output needs a value that is no longer computed.
Graph compacted(const Graph& graph, const std::vector<bool>& dropped);

}  // namespace winnow::train
