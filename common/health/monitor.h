#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/health/board.h"
#include "common/health/pulse.h"
#include "common/health/transport.h"
#include "common/stop.h"

namespace winnow::health {

// What a monitor does besides sending heartbeats.
struct MonitorSinks {
  std::function<double()> adding_seconds;  // of all-reduces, so far; may be empty
  // What is for people and what is for a log, on a thread of their own each: it may block.
  std::function<void(const Sentence&)> say;
  StopRequested stop{};                            // of the process; may be empty
  std::function<void(int exit_code)> end_process;  // does not return, but in tests
};

// Tells the other ranks once a second what this one does, and hears what they do, on a thread of
// its own. No disk, no collective and no other thread can hold it up.
//
// Time   by a clock that is given, which its thread asks five times a second: that of the system,
//        but in tests. How long a sink is waited for goes by the system's
// Ends   with what is to be said said, but for a sink that blocks longer than two seconds when the
//        process ends; the others learn that this rank leaves
class Monitor {
 public:
  // `transport` may be null where there is one rank. `board` outlives it.
  Monitor(Pulse pulse, std::unique_ptr<Transport> transport, const Board& board, MonitorSinks sinks,
          std::function<Board::Clock::time_point()> now = &Board::Clock::now);
  ~Monitor();
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace winnow::health
