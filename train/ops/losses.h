#pragma once

#include <string>
#include <vector>

#include "train/graph/gradient.h"
#include "train/graph/reference.h"
#include "train/graph/shape_inference.h"
#include "train/ops/cases.h"

namespace winnow::train {

// Shared by losses that compare logits with a distribution over K classes: operands, label
// smoothing, test cases.
//
// Forward   logits (N,K), targets (N,K), weights (N) -> loss (1), per_sample (N); loss = sum_n
//           weights_n * per_sample_n
// Backward  logits, targets, weights -> dlogits, the gradient of the loss

std::vector<Value> infer_loss(const ShapeInference& in, double label_smoothing);
std::vector<Value> infer_loss_backward(const ShapeInference& in, double label_smoothing);
std::string label_smoothing_text(double label_smoothing);

// Logits and targets of one sample.
struct LossSample {
  const double* logits;
  const double* targets;
  std::size_t classes;

  double target_sum() const;
  // Target of class k after label smoothing by s: (1-s)*target + s/K * target_sum(), for K classes.
  double smoothed(std::size_t k, double label_smoothing) const;
};
LossSample loss_sample(const ReferenceOperands& operands, std::size_t n);

// Appends the backward node of the loss `node` (operation `backward`), with the same operands.
void loss_gradient(GradientBuilder& builder, const Node& node, const Operation& backward);

// Describes test cases for a loss, forward and backward.
struct LossCase {
  std::string name;
  std::int64_t samples, classes;
  Attributes attributes;
  bool mixed = false;       // targets are weights of two classes, as for an image mixed from two
  bool extreme = false;     // the first two logits of each sample are 10^4 and -10^4
  bool unlabelled = false;  // the targets of every other sample are all zero
};
void add_loss_cases(CaseTable& table, const Operation& forward, const Operation& backward,
                    const LossCase& made);

}  // namespace winnow::train
