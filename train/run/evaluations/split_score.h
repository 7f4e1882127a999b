#pragma once

#include <optional>
#include <string>

namespace winnow::train {

// Accuracy on one split, in [0, 1].
struct SplitScore {
  std::string split;  // "test"; "val" if there is no test split, or with a hold-out
  double top1 = 0;
  std::optional<double> top1_leak_free;  // nullopt without a selection
  std::optional<double> top1_ema;        // with the moving average; nullopt without one
};

}  // namespace winnow::train
