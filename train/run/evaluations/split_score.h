#pragma once

#include <optional>
#include <string>

namespace winnow::train {

// Accuracy of a net on one split of a data set, as a share in [0, 1].
struct SplitScore {
  std::string split;  // "test"; "val" if there is no test split, or with a hold-out
  double top1 = 0;
  // Accuracy without images that have a duplicate in training; nullopt without a selection.
  std::optional<double> top1_leak_free;
  // Accuracy of the moving average of the weights; nullopt if there is none.
  std::optional<double> top1_ema;
};

}  // namespace winnow::train
