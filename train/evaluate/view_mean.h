#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "train/evaluate/test_augmentation.h"
#include "train/graph/graph.h"

namespace winnow::train {

// How the predictions for the augmented views of an image are combined.
struct ViewMean {
  const TestAugmentation* of = nullptr;  // the augmentation; nullptr: the image alone, unchanged
  // Whether the net's loss is a sigmoid one (LossRow::sigmoid in train/nets/losses.h).
  bool sigmoid = false;
};

// Computes `mean`, (N, classes): logits that represent the mean prediction over the views. Pure.
//
// logits  For each view in the order of the augmentation's table, (N, classes).
// Mean    For a mean of probabilities: their logarithms, or for sigmoids their log-odds, so that
//         the softmax or sigmoid of `mean` is the mean probability. Computed in float64 from
//         logarithms, so finite logits give finite results, however small a probability is.
void average_views(const ViewMean& view_mean, std::span<const std::vector<float>> logits,
                   std::size_t classes, std::span<float> mean);

// The loss of a net, computed in float64 for logits that the net did not compute itself.
class LossOfLogits {
 public:
  // The graph must have an output kPerSampleLoss; otherwise throws Error. It must outlive this
  // object.
  explicit LossOfLogits(const Graph& graph);

  // Computes the losses of N samples. logits and targets are (N, classes).
  void compute(std::span<const float> logits, std::span<const float> targets,
               std::span<float> per_sample);

 private:
  const Graph& graph_;
  const Node* node_;
  // Values of the graph by ValueId; empty except for the loss node's operands.
  std::vector<std::vector<double>> values_;
};

}  // namespace winnow::train
