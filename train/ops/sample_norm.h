#pragma once

#include <string>

#include "train/graph/gradient.h"
#include "train/graph/operation.h"
#include "train/ops/cases.h"

namespace winnow::train {

// Shared by norms that compute statistics for each sample: layer norm and group norm.
//   forward   x, scale, shift -> y, mean, variance
//   backward  x, scale, mean, variance, dy -> dx, dscale, dshift; attributes as for forward

// Appends the backward node of the forward node `node` (Operation::gradient). `backward`: the
// operation of the new node.
void append_sample_norm_gradient(GradientBuilder& builder, const Node& node,
                                 const Operation& backward);

// Describes test cases of the forward and the backward operation, for data of shape `x`.
// `statistics`: shape of mean and variance. `name`: appended to the operations' names.
struct SampleNormCase {
  std::string name;
  Shape x;
  Shape statistics;
  Attributes attributes;
};
void add_sample_norm_cases(CaseTable& table, const Operation& forward, const Operation& backward,
                           const SampleNormCase& wanted);

}  // namespace winnow::train
