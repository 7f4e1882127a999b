#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace winnow::train {

// Warns of a loss that grows beyond reason, before it is no number any more. The measure is the
// loss of guessing (train/nets/losses.h), or 1 where that is less.
class LossWatch {
 public:
  explicit LossWatch(double guessing);

  // A sentence for people where `loss` is more than 10^4 times that of guessing. The next one comes
  // at 10^4 times this threshold, and so on.
  std::optional<std::string> warning(std::int64_t step, double loss);

 private:
  double guessing_;
  double threshold_;
};

}  // namespace winnow::train
