#pragma once

#include <string>
#include <vector>

#include "train/graph/gradient.h"
#include "train/graph/reference.h"
#include "train/graph/shape_inference.h"
#include "train/ops/cases.h"

namespace winnow::train {

// What losses against a distribution over classes share: operands, smoothing, test cases.
//
// Forward   logits (N,K), targets (N,K), weights (N) -> loss (1), per_sample (N);
//           loss = sum_n weights_n * per_sample_n
// Backward  the same operands -> dlogits of the loss

std::vector<Value> infer_loss(const ShapeInference& in, double label_smoothing);
std::vector<Value> infer_loss_backward(const ShapeInference& in, double label_smoothing);
std::string label_smoothing_text(double label_smoothing);

// One sample of logits and targets.
struct LossSample {
  const double* logits;
  const double* targets;
  std::size_t classes;

  double target_sum() const;
  // (1-s)*target + s/K * target_sum()
  double smoothed(std::size_t k, double label_smoothing) const;
};
LossSample loss_sample(const ReferenceOperands& operands, std::size_t n);

// Appends `backward` with the operands of the loss `node`.
void loss_gradient(GradientBuilder& builder, const Node& node, const Operation& backward);

// One loss to make cases of, forward and backward.
struct LossCase {
  std::string name;
  std::int64_t samples, classes;
  Attributes attributes;
  bool mixed = false;       // targets are weights of two classes, as mixing two images gives
  bool extreme = false;     // logits 0 and 1 of each sample are 10^4 and -10^4
  bool unlabelled = false;  // every other sample's target is all zeros
};
void add_loss_cases(CaseTable& table, const Operation& forward, const Operation& backward,
                    const LossCase& made);

}  // namespace winnow::train
