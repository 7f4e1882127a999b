#pragma once

#include <cstdint>

#include "train/graph/graph.h"

namespace winnow::train {

// The part of an inference graph (for_inference()) that computes features of images: what its
// classifier, the last fully connected layer, reads. All its layers but that, whatever is between
// it and the logits (a scale).
//
// Input       "pixels" alone
// Output      one, of kind kValue: (N,D), or (N,C,H,W) where the classifier flattens that
// Parameters  all stay; nothing reads the classifier's
// Throws      Error for a graph without logits, or whose logits no fully connected layer is behind.
//             Pure.
Graph for_features(const Graph& graph);

// How many numbers a sample has in the output of such a graph.
std::int64_t feature_count(const Graph& graph);

}  // namespace winnow::train
