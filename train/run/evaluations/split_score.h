#pragma once

#include <optional>
#include <string>

namespace winnow::train {

// Accuracy on one split, in [0, 1].
struct SplitScore {
  std::string split;  // "test"; "val" where there is no test split, or a hold-out
  double top1 = 0;
  std::optional<double> top1_leak_free;  // none without a selection
  std::optional<double> top1_ema;        // of the moving average; none without one
};

}  // namespace winnow::train
