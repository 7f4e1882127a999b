#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "app/live/live_state.h"
#include "common/progress.h"
#include "common/stop.h"
#include "tools/command.h"
#include "train/run/log/metrics.h"

namespace winnow::tools {

// Whether stderr is a terminal that can move its cursor.
bool can_show_live();

struct TerminalSize {
  // Columns without the last one, where a line loses a character when it is erased to its end.
  int columns = 79;
  int rows = 24;
};

// Takes over the whole screen of the terminal at stderr, from the first frame until close().
// Closing restores the previous content, also if a signal ends the process (stop_signals.h). One at
// a time.
class LiveScreen {
 public:
  LiveScreen() = default;
  LiveScreen(const LiveScreen&) = delete;
  LiveScreen& operator=(const LiveScreen&) = delete;
  ~LiveScreen() { close(); }

  bool is_open() const noexcept { return open_; }
  void close() noexcept;

  // Draws the lines that `make` returns for the terminal's current size. They replace the previous
  // lines in one write, without clearing the screen.
  void draw(const std::function<std::vector<std::string>(TerminalSize)>& make);

 private:
  bool open_ = false;
};

// The live view of a training run in this process, fed by its progress and its metrics.jsonl. Open
// from the first progress until the destructor, which restores the screen.
class LiveRun {
 public:
  // `run`: folder of the run. `batch`: images per step.
  LiveRun(const std::filesystem::path& run, std::int64_t batch, StopRequested stop);
  LiveRun(const LiveRun&) = delete;
  LiveRun& operator=(const LiveRun&) = delete;
  ~LiveRun();

  // Draws the view, at most four times a second. Called by one thread.
  void show(const Progress& progress);
  // Shows a sentence to the user: on stderr before the view opens; then in the view, and on stderr
  // after its end. Thread-safe.
  void say(const std::string& sentence);

 private:
  using Clock = std::chrono::steady_clock;

  const std::filesystem::path run_;
  StopRequested stop_;
  train::MetricsTail tail_;
  // Used by show() alone, which reads files: a file that hangs does not delay sentences.
  LiveState state_;
  std::mutex mutex_;  // guards the members below
  LiveState shown_;
  LiveScreen screen_;
  Clock::time_point begin_{};
  Clock::time_point drawn_{};
};

struct WatchOptions {
  std::vector<std::filesystem::path> runs;
  bool once = false;  // print the state once and return
};

// Shows runs while they go on, here or on other machines, until `stop` returns true: a single run
// in full, several as one row each. If stderr is not a terminal, or with `once`: lines on stdout
// whenever a run has news, until all have ended. Throws UsageError if a path is not that of a run.
void watch_runs(const WatchOptions& options, const StopRequested& stop);

}  // namespace winnow::tools
