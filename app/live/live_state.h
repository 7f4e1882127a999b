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

// The curves of one metric, such as the loss, in training, val and test.
struct LiveCurves {
  std::vector<LivePoint> train{};
  std::vector<LivePoint> val{};
  std::vector<LivePoint> test{};
};

// How rank 0 of a run spent its time, in seconds.
struct LiveStages {
  double computing = 0;      // time of steps without waiting
  double data = 0;           // time in steps, spent waiting for data
  double communication = 0;  // time in steps, spent waiting for other ranks
  double between = 0;        // time between steps: evaluations and checkpoints

  double all() const { return computing + data + communication + between; }
};

// Progress of a run in images, and its speed.
struct LivePace {
  std::uint64_t first = 0;  // images that were done before `seconds` began
  std::uint64_t done = 0;
  std::uint64_t total = 0;  // images of the whole run; 0: unknown
  double seconds = 0;
};

double rate_of(const LivePace& pace);  // images per second; 0: unknown
// Seconds until the run ends; nullopt: unknown, or finished.
std::optional<double> seconds_left(const LivePace& pace);

// Figures of each rank for the interval before a step.
struct LiveRanks {
  std::int64_t step = 0;
  train::RankTable table{};  // one row per rank; empty: unknown
};

// All that a live view of a training run shows. Texts have no control characters.
struct LiveState {
  std::string name{};      // name of the run, as shown to people
  std::int64_t batch = 1;  // images per step
  LivePace pace{};
  std::string note{};                    // text such as "epoch 2, loss 0.412"
  std::vector<std::string> sentences{};  // messages of the run, newest last
  LiveRanks ranks{};
  std::vector<std::string> waits{};  // which rank waits for which, from the health log, newest last
  bool is_over = false;
  // Seconds since the last line of metrics.jsonl, for a run watched from outside.
  double silent_s = 0;
  // The following fields are set by add().
  LiveCurves loss{};
  LiveCurves accuracy{};
  LiveStages lately{};  // time spent in the last interval, between the last two rows of training
  LiveStages so_far{};  // time spent since the run began
  std::optional<double> images_per_second{};  // images per second in the last interval
  train::MetricsRow last{};                   // last row of training in metrics.jsonl
};

// Adds rows of metrics.jsonl in their order, beginning with the run's first. Rows must have passed
// make_sound(). A waiting counter that is lower than before was restarted by a resumed run.
void add(LiveState& state, const std::vector<train::MetricsRow>& rows);

// Adds the rows that a run wrote since the last call with `tail`. If the run resumed from an
// earlier checkpoint, all its rows are read again.
void follow(LiveState& state, train::MetricsTail& tail);

}  // namespace winnow::app
