#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "train/evaluate/test_augmentation.h"
#include "train/graph/graph.h"

namespace winnow::train {

// How the predictions for the views of an image become one.
struct ViewMean {
  const TestAugmentation* of = nullptr;  // null: the image alone, as it is
  bool sigmoid = false;  // of the net's loss: as LossRow::sigmoid (train/nets/losses.h) has it
};

// Assigns `mean`, (N, classes): logits that stand for the mean prediction.
//
// logits   Of each view, in the order of the table, (N, classes).
// Mean     Of probabilities: their logarithms, or for sigmoids those of the odds, so that softmax
//          or sigmoid of `mean` is the mean. It is taken in float64 and as logarithms: finite
//          logits give finite ones, however small a probability is.
// Pure.
void average_views(const ViewMean& view_mean, std::span<const std::vector<float>> logits,
                   std::size_t classes, std::span<float> mean);

// The loss of a net for logits that it did not compute itself, in float64.
class LossOfLogits {
 public:
  // Of a graph that has an output kPerSampleLoss, and must stay. Error where there is none.
  explicit LossOfLogits(const Graph& graph);

  // Assigns the losses of N samples; logits and targets (N, classes).
  void compute(std::span<const float> logits, std::span<const float> targets,
               std::span<float> per_sample);

 private:
  const Graph& graph_;
  const Node* node_;
  std::vector<std::vector<double>> values_;  // of the graph; empty but for the node's operands
};

}  // namespace winnow::train
