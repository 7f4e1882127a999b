#pragma once

#include "train/graph/operation.h"
#include "train/ops/softmax_cross_entropy.h"

namespace winnow::train {

// Binary cross entropy of the sigmoid of each logit, and the focal loss (Lin et al. 2017) that is
// built on it.
// Same results as torchvision's sigmoid_focal_loss, and as PyTorch's
// binary_cross_entropy_with_logits with gamma 0 and no alpha.

struct SigmoidLossAttributes : LossAttributes {
  double gamma = 0;  // >= 0: how strongly terms that are already right are weighted down
  // in [0, 1]: weight of present classes; absent ones have 1 - alpha. < 0: no weights
  double alpha = -1;
  bool mean = false;  // mean over the classes; else their sum
};

// logits (N,K), targets (N,K) in [0, 1], weights (N) -> loss (1), per_sample (N)
// t = (1-s)*target + s/K * sum(target);  p = sigmoid(logit);  q = p*t + (1-p)*(1-t)
// term = -(t log p + (1-t) log(1-p)) * (1-q)^gamma * (alpha*t + (1-alpha)*(1-t))
// per_sample = sum or mean of the terms;  loss = sum_n weights_n * per_sample_n
extern const Operation kSigmoidCrossEntropy;

// logits, targets, weights -> dlogits, the gradient of the loss
extern const Operation kSigmoidCrossEntropyBackward;

}  // namespace winnow::train
