#pragma once

#include <chrono>
#include <future>
#include <optional>

#include "common/comm/communicator.h"

namespace winnow::train {

// Seconds that a step waited for its all-reduces with nothing left to compute.
struct ExposedSeconds {
  double late = 0;      // until every rank had provided its last gradients
  double wire = 0;      // after that, without additions
  double addition = 0;  // after that, for this rank's additions

  double total() const noexcept { return late + wire + addition; }
  ExposedSeconds& operator+=(const ExposedSeconds& other) noexcept;
};

// How the wait from `begin` to `end` is divided. Pure.
// all_came  When every rank had provided its last gradients; nullopt: not before `end`.
// adding    Seconds of additions during the whole wait.
ExposedSeconds split_exposed(std::chrono::steady_clock::time_point begin,
                             std::chrono::steady_clock::time_point end,
                             std::optional<std::chrono::steady_clock::time_point> all_came,
                             double adding);

// Measures one rank's wait at the end of each step.
class ExposedWatch {
 public:
  // `all_meet`: all ranks wait as often; else it is not asked how late the others are.
  explicit ExposedWatch(comm::Communicator& comm, bool all_meet = true)
      : comm_(comm), all_meet_(all_meet) {}

  void begin();  // this rank has provided its last gradients and only waits from now on
  void end();    // the wait is over
  const ExposedSeconds& seconds() const noexcept { return seconds_; }  // parts of the last wait

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
