#pragma once

#include <functional>
#include <string>

#include "train/run/log/metrics.h"
#include "train/run/log/rank_metrics.h"

namespace winnow::train {

// A line of metrics.jsonl, as it is written.
struct LoggedLine {
  std::string run;                   // id of the run
  MetricsRow row;                    // its numbers
  const RankTable* ranks = nullptr;  // for the line of an interval; valid during the call
};

// Receives each line on rank 0 during training. It must be quick and must not throw.
using LineSink = std::function<void(const LoggedLine&)>;

}  // namespace winnow::train
