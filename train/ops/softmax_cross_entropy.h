#pragma once

#include "train/graph/operation.h"

namespace winnow::train {

// Cross entropy of the softmax, the usual classification loss.

struct LossAttributes {
  double label_smoothing = 0;  // label smoothing s, in [0, 1)
};

// Softmax cross entropy: logits (N,K), targets (N,K), weights (N) -> loss (1), per_sample (N)
// With label smoothing s:
// t = (1-s)*target + s/K * sum(target). per_sample = -sum t log softmax(logits).
// loss = sum_n weights_n * per_sample_n.
extern const Operation kSoftmaxCrossEntropy;

// Backward pass of softmax cross entropy: logits, targets, weights -> dlogits, the gradient of the
// loss
extern const Operation kSoftmaxCrossEntropyBackward;

}  // namespace winnow::train
