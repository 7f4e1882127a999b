#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "train/run/log/metrics.h"
#include "train/run/log/rank_metrics.h"

namespace winnow::app {

struct LivePoint {
  double epoch = 0;
  double value = 0;
};

// One quantity, as training, val and test have it.
struct LiveCurves {
  std::vector<LivePoint> train{};
  std::vector<LivePoint> val{};
  std::vector<LivePoint> test{};
};

// What a run's time went into, in seconds of rank 0.
struct LiveStages {
  double computing = 0;
  double data = 0;           // steps waited for it
  double communication = 0;  // steps waited for other ranks
  double between = 0;        // evaluations and checkpoints

  double all() const { return computing + data + communication + between; }
};

// How far a run is, in images, and how fast it came there.
struct LivePace {
  std::uint64_t first = 0;  // done when `seconds` began
  std::uint64_t done = 0;
  std::uint64_t total = 0;  // 0: not known
  double seconds = 0;
};

double rate_of(const LivePace& pace);                      // images per second; 0: not known
std::optional<double> seconds_left(const LivePace& pace);  // none: not known, or all is done

// What each rank did in the interval before a step.
struct LiveRanks {
  std::int64_t step = 0;
  train::RankTable table{};  // empty: not known
};

// All that a live view shows of a run. Texts hold no control characters.
struct LiveState {
  std::string name{};      // as people call it
  std::int64_t batch = 1;  // images of a step
  LivePace pace{};
  std::string note{};                    // "epoch 2, loss 0.412"
  std::vector<std::string> sentences{};  // what it said, the newest last
  LiveRanks ranks{};
  std::vector<std::string> waits{};  // what its health said of who waits for whom, the newest last
  bool is_over = false;
  double silent_s = 0;  // since it wrote something; of runs watched from outside
  // By add():
  LiveCurves loss{};
  LiveCurves accuracy{};
  LiveStages lately{};  // since the line before the last
  LiveStages so_far{};
  std::optional<double> images_per_second{};  // of the last line
  train::MetricsRow last{};                   // of the last line of training
};

// Enters lines of metrics.jsonl, in their order; the run's first is the first of all. The rows are
// sound (make_sound()). Counters of waiting that begin anew are those of a run that went on.
void add(LiveState& state, const std::vector<train::MetricsRow>& rows);

// Takes what a run wrote since `tail` was asked last; of a run that went on from a checkpoint all.
void follow(LiveState& state, train::MetricsTail& tail);

}  // namespace winnow::app
