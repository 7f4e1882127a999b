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
  // without the last column, where a line loses a letter when it is erased to its end
  int columns = 79;
  int rows = 24;
};

// The whole screen of the terminal at stderr, from the first frame until close. Closing restores
// the previous content, also if a signal ends the process (stop_signals.h). One at a time.
class LiveScreen {
 public:
  LiveScreen() = default;
  LiveScreen(const LiveScreen&) = delete;
  LiveScreen& operator=(const LiveScreen&) = delete;
  ~LiveScreen() { close(); }

  bool is_open() const noexcept { return open_; }
  void close() noexcept;

  // Draws the lines that `make` returns for the current size of the terminal. They replace the
  // previous lines in one write, without clearing the screen.
  void draw(const std::function<std::vector<std::string>(TerminalSize)>& make);

 private:
  bool open_ = false;
};

// The live view of a run of this process. Fed by its progress and by its metrics.jsonl. Open from
// the first progress until destruction, which restores the screen.
class LiveRun {
 public:
  // `run`: its folder. `batch`: images per step.
  LiveRun(const std::filesystem::path& run, std::int64_t batch, StopRequested stop);
  LiveRun(const LiveRun&) = delete;
  LiveRun& operator=(const LiveRun&) = delete;
  ~LiveRun();

  // Draws at most four times a second. Called by one thread.
  void show(const Progress& progress);
  // A sentence for people: on stderr before the view opens; then in the view, and on stderr at its
  // end. Thread-safe.
  void say(const std::string& sentence);

 private:
  using Clock = std::chrono::steady_clock;

  const std::filesystem::path run_;
  StopRequested stop_;
  train::MetricsTail tail_;
  // used by show() alone, which reads files: a file that hangs delays no sentence
  LiveState state_;
  std::mutex mutex_;  // guards the following
  LiveState shown_;
  LiveScreen screen_;
  Clock::time_point begin_{};
  Clock::time_point drawn_{};
};

struct WatchOptions {
  std::vector<std::filesystem::path> runs;
  bool once = false;  // print the state once and return
};

// Shows runs of this machine or another while they go on, until `stop`: a single run in full,
// several as a row each. If stderr is no terminal, or with `once`: lines on stdout, when a run has
// news, until all have ended. Throws UsageError if one of them is no run.
void watch_runs(const WatchOptions& options, const StopRequested& stop);

}  // namespace winnow::tools
