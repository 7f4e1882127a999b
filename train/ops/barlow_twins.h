#pragma once

#include "train/graph/operation.h"

namespace winnow::train {

// The loss of Barlow Twins (Zbontar et al. 2021), which needs no labels: numbers computed of two
// views of an image shall be equal, and tell different things.

struct BarlowTwinsAttributes {
  double redundancy = 0.005;  // > 0: weight of what different features have in common
};
inline constexpr double kTwinsEpsilon = 1e-5;  // as that of PyTorch's BatchNorm1d

// z (2N,D), weights (2N) -> loss (1), per_sample (2N). Rows 2n and 2n+1 are two views of an image.
// a, b   first and second views, (N,D), each feature with mean 0 and variance 1 over the N
//        (epsilon kTwinsEpsilon, variance biased)
// C      a^T b / N
// each of per_sample = (sum_i (1 - C_ii)^2 + redundancy * sum_i,j!=i C_ij^2) / D
// loss = sum_n weights_n * per_sample_n
extern const Operation kBarlowTwins;

// z, weights -> dz of the loss
extern const Operation kBarlowTwinsBackward;

}  // namespace winnow::train
