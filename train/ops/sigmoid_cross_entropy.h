#pragma once

#include "train/graph/operation.h"
#include "train/ops/softmax_cross_entropy.h"

namespace winnow::train {

// Binary cross entropy of the sigmoid of each logit, and the focal loss built on it (Lin et al.
// 2017).
// Same results as torchvision's sigmoid_focal_loss; with gamma 0 and no alpha, as PyTorch's
// binary_cross_entropy_with_logits.

struct SigmoidLossAttributes : LossAttributes {
  // Focal exponent, >= 0: larger values reduce the weight of classes that are already predicted
  // well.
  double gamma = 0;
  // In [0, 1]: weight of the classes that a sample has; the others have 1 - alpha. Negative: no
  // weights.
  double alpha = -1;
  bool mean = false;  // whether a sample's loss is the mean over the classes; else their sum
};

// Sigmoid cross entropy: logits (N,K), targets (N,K) in [0, 1], weights (N) -> loss (1), per_sample
// (N)
// With label smoothing s:
// t = (1-s)*target + s/K * sum(target). p = sigmoid(logit). q = p*t + (1-p)*(1-t).
// term = -(t log p + (1-t) log(1-p)) * (1-q)^gamma * (alpha*t + (1-alpha)*(1-t)).
// per_sample = sum or mean of the terms over the K classes. loss = sum_n weights_n * per_sample_n.
extern const Operation kSigmoidCrossEntropy;

// Backward pass of sigmoid cross entropy: logits, targets, weights -> dlogits, the gradient of the
// loss
extern const Operation kSigmoidCrossEntropyBackward;

}  // namespace winnow::train
