#pragma once

#include <vector>

#include "train/graph/operation.h"

namespace winnow::train {

struct NormalizeAttributes {
  std::vector<float> mean;    // mean of each channel, for pixels in [0, 1]
  std::vector<float> stddev;  // standard deviation of each channel, > 0, for pixels in [0, 1]
};

// Normalises pixels: pixels u8 (N,C,H,W) -> y, with y = (pixel/255 - mean) / stddev for each
// channel
extern const Operation kNormalizeInput;

}  // namespace winnow::train
