#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

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

// The part of an inference graph that predicts: its logits alone, and where it is asked for the
// features of for_features() behind them.
//
// Input   "pixels" alone
// Throws  Error for a graph without logits, and with features as for_features(). Pure.
Graph for_prediction(const Graph& graph, bool with_features);

// The numbers of one sample of such an output, whose shape is (N,D), or (N,C,H,W) and its values
// NHWC: channel after channel, as a classifier's weights have them.
std::vector<float> features_of(const Shape& shape, std::span<const float> values,
                               std::size_t sample);

}  // namespace winnow::train
