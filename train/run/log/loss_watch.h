#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace winnow::train {

// Warns of a training loss that grows out of bounds, before it becomes infinite or NaN.
// Its reference is the loss of random guessing (train/nets/losses.h), at least 1.
class LossWatch {
 public:
  explicit LossWatch(double guessing);

  // Returns a user-facing warning if `loss` exceeds the threshold, which is 10^4 times the
  // reference at first. Each warning multiplies the threshold by 10^4 until it is above `loss`.
  std::optional<std::string> warning(std::int64_t step, double loss);

 private:
  double guessing_;
  double threshold_;
};

}  // namespace winnow::train
