#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/progress.h"
#include "common/stop.h"
#include "tools/live/live_state.h"
#include "tools/live_screen.h"
#include "train/run/metrics.h"

namespace winnow::tools {

// The live view of a run of this process, fed by its progress and by what it writes to
// metrics.jsonl. It is open from the first progress on; the screen is back when it is destroyed.
class LiveRun {
 public:
  // `run`: its folder. `batch`: images of a step.
  LiveRun(const std::filesystem::path& run, std::int64_t batch, StopRequested stop);
  LiveRun(const LiveRun&) = delete;
  LiveRun& operator=(const LiveRun&) = delete;
  ~LiveRun();

  // Draws at most four times a second.
  void show(const Progress& progress);
  // A sentence for people: on stderr before the view is open; then in it, and on stderr at its end.
  void say(const std::string& sentence);

 private:
  using Clock = std::chrono::steady_clock;

  StopRequested stop_;
  train::MetricsTail tail_;
  LiveState state_;
  LiveScreen screen_;
  Clock::time_point begin_{};
  Clock::time_point drawn_{};
};

// Draws the run in that folder, of this machine or another, until `stop`. Throws UsageError where
// there is none, or no terminal.
void watch_run(const std::filesystem::path& run, const StopRequested& stop);

}  // namespace winnow::tools
