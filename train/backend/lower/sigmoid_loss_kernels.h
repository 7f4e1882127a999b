#pragma once

#include <cmath>

#include "train/backend/lower/kernel_arguments.h"
#include "train/tensor/device_function.h"

// Arguments and formulas of the kernels of sigmoid cross entropy, see
// train/ops/sigmoid_cross_entropy.h. All kernels use this source. It has internal linkage: each
// compilation of a kernel has its own copy.
namespace winnow::train::kernels {

struct FocalFactors {
  double gamma;
  double alpha;  // weight of positive targets; < 0: no class weights
};
struct SigmoidLoss {
  Loss of;
  FocalFactors focal;
  double share;  // factor of each class's term in a sample's loss: 1, or 1 / classes
};

// The loss of one class of a sample, and what its gradient needs. Small quantities are computed
// directly, not as 1 minus a number near 1.
struct SigmoidTerm {
  double p, rest;  // sigmoid of the logit, and 1 - sigmoid
  double entropy;
  double wrong;
  double factor;
};
static WINNOW_DEVICE_FN SigmoidTerm sigmoid_term(const FocalFactors& focal, double x, double t) {
  const double small = std::exp(x < 0 ? x : -x);
  SigmoidTerm term{};
  term.p = (x < 0 ? small : 1) / (1 + small);
  term.rest = (x < 0 ? 1 : small) / (1 + small);
  term.entropy = (x < 0 ? 0 : x) - t * x + std::log1p(small);  // NaN stays NaN
  term.wrong = term.p * (1 - t) + term.rest * t;
  term.factor = focal.alpha < 0 ? 1 : focal.alpha * t + (1 - focal.alpha) * (1 - t);
  if (focal.gamma > 0) term.factor *= std::pow(term.wrong, focal.gamma);
  return term;
}
static WINNOW_DEVICE_FN double sigmoid_loss_of(const FocalFactors& focal, double x, double t) {
  const SigmoidTerm term = sigmoid_term(focal, x, t);
  return term.factor * term.entropy;
}
static WINNOW_DEVICE_FN double sigmoid_slope_of(const FocalFactors& focal, double x, double t) {
  const SigmoidTerm term = sigmoid_term(focal, x, t);
  // derivative of term.wrong divided by term.wrong; in [-1, 1]
  const double slope = term.wrong > 0 ? term.p * term.rest * (1 - 2 * t) / term.wrong : 0.0;
  return term.factor * (term.p * (1 - t) - term.rest * t + focal.gamma * term.entropy * slope);
}

}  // namespace winnow::train::kernels
