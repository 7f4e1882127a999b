#pragma once

#include "train/graph/operation.h"

namespace winnow::train {

// Local response normalisation over neighbouring channels, as PyTorch's LocalResponseNorm: alpha is
// divided by the size, unlike in the paper.
// Source  Krizhevsky et al. 2012.

struct LocalResponseNormAttributes {
  // Number of channels in the sum: from c - size/2 to c + (size-1)/2; missing channels are 0.
  int size = 5;
  double alpha = 1e-4;  // >= 0
  double beta = 0.75;   // >= 0
  double k = 1;         // > 0
};

// Local response norm: x (N,C,H,W) -> y.
// y_c = x_c / (k + alpha/size * sum_j x_j^2)^beta, where j are the channels around c.
extern const Operation kLocalResponseNorm;

// x, dy -> dx
extern const Operation kLocalResponseNormBackward;

}  // namespace winnow::train
