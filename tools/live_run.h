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
  int columns = 79;  // without the last one, where a line that is erased to its end loses a letter
  int rows = 24;
};

// The whole screen of the terminal at stderr, from the first frame until it is closed; then what
// was there before is back, also where a signal ends the process meanwhile (stop_signals.h). One at
// a time.
class LiveScreen {
 public:
  LiveScreen() = default;
  LiveScreen(const LiveScreen&) = delete;
  LiveScreen& operator=(const LiveScreen&) = delete;
  ~LiveScreen() { close(); }

  bool is_open() const noexcept { return open_; }
  void close() noexcept;

  // Draws a frame of the lines that `make` returns for the terminal as large as it is now. Lines
  // take the place of those before without the screen being emptied, in one write.
  void draw(const std::function<std::vector<std::string>(TerminalSize)>& make);

 private:
  bool open_ = false;
};

// The live view of a run of this process, fed by its progress and by what it writes to
// metrics.jsonl. It is open from the first progress on; the screen is back when it is destroyed.
class LiveRun {
 public:
  // `run`: its folder. `batch`: images of a step.
  LiveRun(const std::filesystem::path& run, std::int64_t batch, StopRequested stop);
  LiveRun(const LiveRun&) = delete;
  LiveRun& operator=(const LiveRun&) = delete;
  ~LiveRun();

  // Draws at most four times a second. From one thread.
  void show(const Progress& progress);
  // A sentence for people: on stderr before the view is open; then in it, and on stderr at its end.
  // From any thread.
  void say(const std::string& sentence);

 private:
  using Clock = std::chrono::steady_clock;

  const std::filesystem::path run_;
  StopRequested stop_;
  train::MetricsTail tail_;
  LiveState state_;   // of show() alone, which reads files: one that hangs holds up no sentence
  std::mutex mutex_;  // of the following
  LiveState shown_;
  LiveScreen screen_;
  Clock::time_point begin_{};
  Clock::time_point drawn_{};
};

struct WatchOptions {
  std::vector<std::filesystem::path> runs;
  bool once = false;  // say how they are, and that is all
};

// Shows runs of this machine or another as they go on, until `stop`: one as a whole, of several a
// row each. Where stderr is no terminal, or `once`: lines on stdout, where a run has news, until
// all have ended. Throws UsageError where one of them is none.
void watch_runs(const WatchOptions& options, const StopRequested& stop);

}  // namespace winnow::tools
