#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/health/board.h"
#include "common/health/pulse.h"
#include "common/health/transport.h"
#include "common/stop.h"

namespace winnow::health {

// Callbacks of a monitor.
struct MonitorSinks {
  // Returns the seconds of all-reduce additions so far; may be empty.
  std::function<double()> adding_seconds;
  // Receives a message for the user or for the log. Each kind has a thread of its own, so it may
  // block.
  std::function<void(const Sentence&)> say;
  StopRequested stop{};                            // whether the process shall stop; may be empty
  std::function<void(int exit_code)> end_process;  // must not return, except in tests
};

// Sends the status of this rank to the other ranks once a second, and receives theirs, on a thread
// of its own. It is not delayed by disks, collectives or other threads.
//
// Time   From the given clock, which its thread calls five times a second: the system's, except in
//        tests. Waiting for a sink uses the system's clock.
// End    Pending messages are delivered first, unless a sink blocks for more than two seconds when
//        the process ends. The other ranks are told that this rank leaves.
class Monitor {
 public:
  // `transport` may be null for a single rank. `board` must outlive the monitor.
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
