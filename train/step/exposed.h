#pragma once

#include <chrono>
#include <future>
#include <optional>

#include "common/comm/communicator.h"

namespace winnow::train {

// Seconds that a step waited for its all-reduces while nothing was left to compute (exposed
// communication).
struct ExposedSeconds {
  double late = 0;  // seconds of waiting until every rank had provided its last gradients
  // Seconds of waiting for the network, after every rank had provided its last gradients.
  double wire = 0;
  // Seconds of this rank's additions, after every rank had provided its last gradients.
  double addition = 0;

  double total() const noexcept { return late + wire + addition; }
  ExposedSeconds& operator+=(const ExposedSeconds& other) noexcept;
};

// Divides the wait from `begin` to `end` into parts. Pure.
// all_came  When every rank had provided its last gradients; nullopt: not before `end`.
// adding    Seconds of additions during the whole wait.
ExposedSeconds split_exposed(std::chrono::steady_clock::time_point begin,
                             std::chrono::steady_clock::time_point end,
                             std::optional<std::chrono::steady_clock::time_point> all_came,
                             double adding);

// Measures how long this rank waits for all-reduces at the end of each step.
class ExposedWatch {
 public:
  // all_meet  All ranks wait equally often, so a barrier can measure how late the others are;
  //           false: `late` is 0.
  explicit ExposedWatch(comm::Communicator& comm, bool all_meet = true)
      : comm_(comm), all_meet_(all_meet) {}

  void begin();  // this rank has provided its last gradients and only waits from now on
  void end();    // the wait is over
  // The last wait for all-reduces, divided into parts.
  const ExposedSeconds& seconds() const noexcept { return seconds_; }

 private:
  using Clock = std::chrono::steady_clock;
  comm::Communicator& comm_;
  const bool all_meet_;
  comm::Communicator::Arrival all_came_{};
  Clock::time_point begin_{};
  double added_ = 0;
  ExposedSeconds seconds_{};
};

}  // namespace winnow::train
