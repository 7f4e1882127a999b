#pragma once

#include "train/graph/operation.h"

namespace winnow::train {

// The Barlow Twins loss, which needs no labels: features of two views of an image should be equal,
// and different features should be uncorrelated.
// Source  Zbontar et al. 2021.

struct BarlowTwinsAttributes {
  double redundancy = 0.005;  // > 0: weight of the correlations between different features
};
// Epsilon of the normalisation, as in PyTorch's BatchNorm1d.
inline constexpr double kTwinsEpsilon = 1e-5;

// Barlow Twins loss of N pairs of views with D features: z (2N,D), weights (2N) -> loss (1),
// per_sample (2N)
// Rows 2n and 2n+1 of z are two views of one image.
//
//   a, b        first and second views, (N,D), each feature normalised to mean 0 and variance 1
//               over the N pairs (epsilon kTwinsEpsilon, biased variance)
//   C           cross-correlation a^T b / N
//   per_sample  equal for all: (sum_i (1 - C_ii)^2 + redundancy * sum_i,j!=i C_ij^2) / D
//   loss        sum_n weights_n * per_sample_n
extern const Operation kBarlowTwins;

// Backward pass of the Barlow Twins loss: z, weights -> dz, the gradient of the loss.
extern const Operation kBarlowTwinsBackward;

}  // namespace winnow::train
