#pragma once

#include <string>

#include "train/graph/gradient.h"
#include "train/graph/operation.h"
#include "train/ops/cases.h"

namespace winnow::train {

// What norms share that take their statistics from each sample, as layer and group norm do.
//   forward   x, scale, shift -> y, mean, variance
//   backward  x, scale, mean, variance, dy -> dx, dscale, dshift, with the attributes of forward

// Appends `backward` for the forward node `node` (Operation::gradient).
void append_sample_norm_gradient(GradientBuilder& builder, const Node& node,
                                 const Operation& backward);

// A case of both for `x`, named after them and `name`. `statistics`: the shape of mean and
// variance.
struct SampleNormCase {
  std::string name;
  Shape x;
  Shape statistics;
  Attributes attributes;
};
void add_sample_norm_cases(CaseTable& table, const Operation& forward, const Operation& backward,
                           const SampleNormCase& wanted);

}  // namespace winnow::train
