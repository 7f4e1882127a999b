#pragma once

#include <string>

#include "train/graph/gradient.h"
#include "train/graph/operation.h"
#include "train/ops/cases.h"

namespace winnow::train {

// Shared by norms that compute statistics for each sample: layer norm and group norm.
//   forward   x, scale, shift -> y, mean, variance
//   backward  x, scale, mean, variance, dy -> dx, dscale, dshift; attributes as for forward

// Appends `backward` for the forward node `node` (Operation::gradient).
void append_sample_norm_gradient(GradientBuilder& builder, const Node& node,
                                 const Operation& backward);

// A test case of both operations for data of shape `x`. `statistics` is the shape of mean and
// variance; `name` is appended to the operations' names.
struct SampleNormCase {
  std::string name;
  Shape x;
  Shape statistics;
  Attributes attributes;
};
void add_sample_norm_cases(CaseTable& table, const Operation& forward, const Operation& backward,
                           const SampleNormCase& wanted);

}  // namespace winnow::train
