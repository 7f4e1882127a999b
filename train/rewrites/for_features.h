#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "train/graph/graph.h"

namespace winnow::train {

// Returns the part of an inference graph (for_inference()) that computes features of images, which
// are the input of the classifier. The classifier is the last fully connected layer; it is dropped
// together with anything between it and the logits (a scale). Pure.
//
// Input       "pixels" alone.
// Output      One of kind kValue: (N,D); or (N,C,H,W) if the classifier flattens it.
// Parameters  All stay, but those of the classifier are not read.
// Throws      Error for a graph without logits, or without a fully connected layer before them.
Graph for_features(const Graph& graph);

// Number of features of a sample in the output of for_features().
std::int64_t feature_count(const Graph& graph);

// Returns the part of an inference graph that predicts: its logits, and optionally the features of
// for_features() as well. Pure.
//
// Input   "pixels" alone.
// Throws  Error for a graph without logits; with features, as for_features().
Graph for_prediction(const Graph& graph, bool with_features);

// Returns the features of one sample from an output of for_features(), of shape (N,D), or (N,C,H,W)
// with values in NHWC. They are returned channel by channel, in the order of a classifier's
// weights.
std::vector<float> features_of(const Shape& shape, std::span<const float> values,
                               std::size_t sample);

}  // namespace winnow::train
