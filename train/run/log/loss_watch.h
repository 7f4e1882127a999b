#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace winnow::train {

// Warns of a loss that grows out of bounds, before it becomes infinite or NaN. The reference is the
// loss of guessing (train/nets/losses.h), or 1 if that is larger.
class LossWatch {
 public:
  explicit LossWatch(double guessing);

  // Returns a user-facing sentence if `loss` is more than 10^4 times the reference. The next
  // warning comes at 10^4 times this threshold, and so on.
  std::optional<std::string> warning(std::int64_t step, double loss);

 private:
  double guessing_;
  double threshold_;
};

}  // namespace winnow::train
