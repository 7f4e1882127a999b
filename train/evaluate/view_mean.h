#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "train/evaluate/test_augmentation.h"
#include "train/graph/graph.h"

namespace winnow::train {

// How the predictions for the views of an image are combined.
struct ViewMean {
  const TestAugmentation* of = nullptr;  // nullptr: the image alone, unchanged
  // the net's loss is a sigmoid one, as LossRow::sigmoid (train/nets/losses.h)
  bool sigmoid = false;
};

// Assigns `mean`, (N, classes): logits that stand for the mean prediction. Pure.
//
// logits  For each view in the order of the table, (N, classes).
// Mean    For a mean of probabilities: their logarithms, or for sigmoids their log-odds, so that
//         the softmax or sigmoid of `mean` is the mean probability. Computed in float64 from
//         logarithms, so finite logits give finite ones, however small a probability is.
void average_views(const ViewMean& view_mean, std::span<const std::vector<float>> logits,
                   std::size_t classes, std::span<float> mean);

// A net's loss, computed in float64 for logits from elsewhere.
class LossOfLogits {
 public:
  // For a graph with an output kPerSampleLoss; otherwise throws Error. The graph must outlive this.
  explicit LossOfLogits(const Graph& graph);

  // Assigns the losses of N samples. logits and targets are (N, classes).
  void compute(std::span<const float> logits, std::span<const float> targets,
               std::span<float> per_sample);

 private:
  const Graph& graph_;
  const Node* node_;
  // values of the graph; empty except for the node's operands
  std::vector<std::vector<double>> values_;
};

}  // namespace winnow::train
