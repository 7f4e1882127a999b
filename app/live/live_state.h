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

// The curves of one quantity in training, val and test.
struct LiveCurves {
  std::vector<LivePoint> train{};
  std::vector<LivePoint> val{};
  std::vector<LivePoint> test{};
};

// Where the time of a run went, in seconds of rank 0.
struct LiveStages {
  double computing = 0;      // in steps, without waiting
  double data = 0;           // in steps, waiting for data
  double communication = 0;  // in steps, waiting for other ranks
  double between = 0;        // between steps: evaluations and checkpoints

  double all() const { return computing + data + communication + between; }
};

// Progress of a run in images, and its speed.
struct LivePace {
  std::uint64_t first = 0;  // images done when `seconds` began
  std::uint64_t done = 0;
  std::uint64_t total = 0;  // 0: unknown
  double seconds = 0;
};

double rate_of(const LivePace& pace);                      // images per second; 0: unknown
std::optional<double> seconds_left(const LivePace& pace);  // nullopt: unknown, or finished

// Work of each rank in the interval before a step.
struct LiveRanks {
  std::int64_t step = 0;
  train::RankTable table{};  // empty: unknown
};

// All that a live view shows of a run. Texts contain no control characters.
struct LiveState {
  std::string name{};      // name for people
  std::int64_t batch = 1;  // images per step
  LivePace pace{};
  std::string note{};                    // "epoch 2, loss 0.412"
  std::vector<std::string> sentences{};  // its messages, newest last
  LiveRanks ranks{};
  std::vector<std::string> waits{};  // who waits for whom, from its health log, newest last
  bool is_over = false;
  double silent_s = 0;  // since the last line of its metrics; for runs watched from outside
  // Set by add():
  LiveCurves loss{};
  LiveCurves accuracy{};
  LiveStages lately{};  // since the last row but one
  LiveStages so_far{};
  std::optional<double> images_per_second{};  // since the last row but one
  train::MetricsRow last{};                   // last row of training
};

// Adds rows of metrics.jsonl, in their order, from the run's first row on. Rows are sound
// (make_sound()). Waiting counters that start again from zero belong to a resumed run.
void add(LiveState& state, const std::vector<train::MetricsRow>& rows);

// Adds what a run wrote since the last call with `tail`. If the run resumed from a checkpoint,
// reads all of it again.
void follow(LiveState& state, train::MetricsTail& tail);

}  // namespace winnow::app
