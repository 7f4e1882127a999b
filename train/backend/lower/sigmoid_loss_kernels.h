#pragma once

#include <cmath>

#include "train/backend/lower/kernel_arguments.h"
#include "train/tensor/device_function.h"

// Arguments and formulas of sigmoid cross entropy kernels, see train/ops/sigmoid_cross_entropy.h.
// One source for all kernels. Internal linkage: each compilation of a kernel has its own copy.
namespace winnow::train::kernels {

struct FocalFactors {
  double gamma;
  double alpha;  // < 0: no weights
};
struct SigmoidLoss {
  Loss of;
  FocalFactors focal;
  double share;  // weight of each term in a sample's loss: 1, or 1 / classes
};

// The loss term of one logit. Small quantities are computed directly, not as 1 minus a number near
// 1.
struct SigmoidTerm {
  double p, rest;  // sigmoid, 1 - sigmoid
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
  // The slope of `wrong`, relative to `wrong`: in [-1, 1].
  const double slope = term.wrong > 0 ? term.p * term.rest * (1 - 2 * t) / term.wrong : 0.0;
  return term.factor * (term.p * (1 - t) - term.rest * t + focal.gamma * term.entropy * slope);
}

}  // namespace winnow::train::kernels
