#pragma once

#include "train/graph/operation.h"

namespace winnow::train {

// The loss of Barlow Twins, which needs no labels. Features of two views of an image should be
// equal, and different features should be uncorrelated.
// Source  Zbontar et al. 2021.

struct BarlowTwinsAttributes {
  double redundancy = 0.005;  // > 0: weight of the correlations between different features
};
inline constexpr double kTwinsEpsilon = 1e-5;  // as in PyTorch's BatchNorm1d

// z (2N,D), weights (2N) -> loss (1), per_sample (2N)
// Rows 2n and 2n+1 are two views of one image.
//   a, b        first and second views, (N,D), each feature normalised to mean 0 and variance 1
//               over the N (epsilon kTwinsEpsilon, biased variance)
//   C           a^T b / N
//   per_sample  the same for all: (sum_i (1 - C_ii)^2 + redundancy * sum_i,j!=i C_ij^2) / D
//   loss        sum_n weights_n * per_sample_n
extern const Operation kBarlowTwins;

// z, weights -> dz, the gradient of the loss
extern const Operation kBarlowTwinsBackward;

}  // namespace winnow::train
