#pragma once

#include <vector>

#include "train/graph/graph.h"

namespace winnow::train {

// An operand in memory order: data of rank 4 NHWC, all else logical. `shape` is logical, (N,C,H,W).
struct Given {
  Shape shape;
  std::vector<double> numbers;
  Storage storage = Storage::kCompute;
};

// What the float64 reference computes of one node that reads `given`.
std::vector<std::vector<double>> outputs_of(const Operation& op, const std::vector<Given>& given,
                                            Attributes attributes);

}  // namespace winnow::train
