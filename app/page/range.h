#pragma once

#include <algorithm>
#include <limits>

namespace winnow::app {

// The range of values along an axis of a chart.
struct Range {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();

  void add(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
  // Position of a value between `least` (0) and `most` (1). 0.5 if both are equal.
  double share(double value) const { return most > least ? (value - least) / (most - least) : 0.5; }
};

}  // namespace winnow::app
