#pragma once

#include <vector>

#include "train/graph/operation.h"

namespace winnow::train {

struct NormalizeAttributes {
  std::vector<float> mean;    // per channel, scale [0, 1]
  std::vector<float> stddev;  // per channel, > 0
};

// pixels u8 (N,C,H,W) -> y: (pixel/255 - mean_c) / stddev_c
extern const Operation kNormalizeInput;

}  // namespace winnow::train
