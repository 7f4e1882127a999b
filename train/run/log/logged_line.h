#pragma once

#include <functional>
#include <string>

#include "train/run/log/metrics.h"
#include "train/run/log/rank_metrics.h"

namespace winnow::train {

// A line of metrics.jsonl as it is written.
struct LoggedLine {
  std::string run;                   // its id
  MetricsRow row;                    // its numbers
  const RankTable* ranks = nullptr;  // on the line of an interval; valid during the call
};

// Takes each line on rank 0, in the midst of the training: it must not take long, nor throw.
using LineSink = std::function<void(const LoggedLine&)>;

}  // namespace winnow::train
