#pragma once

#include <vector>

#include "train/graph/graph.h"

namespace winnow::train {

// An operand in memory order: NHWC for data of rank 4, otherwise logical. `shape` is logical,
// (N,C,H,W).
struct Given {
  Shape shape;
  std::vector<double> numbers;
  Storage storage = Storage::kCompute;
};

// The outputs of one node that reads `given`, by the float64 reference.
std::vector<std::vector<double>> outputs_of(const Operation& op, const std::vector<Given>& given,
                                            Attributes attributes);

}  // namespace winnow::train
