#pragma once

#include <functional>
#include <string>

#include "train/run/log/metrics.h"
#include "train/run/log/rank_metrics.h"

namespace winnow::train {

// The content of one line of metrics.jsonl.
struct LoggedLine {
  std::string run;  // id of the run
  MetricsRow row;   // numbers of the line
  // Figures of each rank, on a line that ends a logging interval; else nullptr. Valid during the
  // call only.
  const RankTable* ranks = nullptr;
};

// Callback that receives each line on rank 0 during training. It must be quick and must not throw.
using LineSink = std::function<void(const LoggedLine&)>;

}  // namespace winnow::train
