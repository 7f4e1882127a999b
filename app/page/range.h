#pragma once

#include <algorithm>
#include <limits>

namespace winnow::app {

// What the numbers along an axis span.
struct Range {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();

  void add(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
  // Where a number lies between least and most; in the middle where they are one.
  double share(double value) const { return most > least ? (value - least) / (most - least) : 0.5; }
};

}  // namespace winnow::app
