#pragma once

#include <chrono>
#include <future>
#include <optional>

#include "common/comm/communicator.h"

namespace winnow::train {

// Seconds that a step waited for its all-reduces when nothing was left to compute.
struct ExposedSeconds {
  double late = 0;      // until every rank had given its last gradients
  double wire = 0;      // after that, without additions
  double addition = 0;  // after that, this rank added up what had come

  double total() const noexcept { return late + wire + addition; }
  ExposedSeconds& operator+=(const ExposedSeconds& other) noexcept;
};

// How the wait from `begin` to `end` divides. Pure.
// In  `all_came`: when every rank had given its last gradients; none: not before `end`
//     `adding`: seconds of additions in all of the wait
ExposedSeconds split_exposed(std::chrono::steady_clock::time_point begin,
                             std::chrono::steady_clock::time_point end,
                             std::optional<std::chrono::steady_clock::time_point> all_came,
                             double adding);

// Watches one rank's wait at the end of each step.
class ExposedWatch {
 public:
  explicit ExposedWatch(comm::Communicator& comm) : comm_(comm) {}

  void begin();  // this rank has given its last gradients: nothing is left to do but to wait
  void end();    // what was waited for is here
  const ExposedSeconds& seconds() const noexcept { return seconds_; }  // of the last wait

 private:
  using Clock = std::chrono::steady_clock;
  comm::Communicator& comm_;
  comm::Communicator::Arrival all_came_{};
  Clock::time_point begin_{};
  double added_ = 0;
  ExposedSeconds seconds_{};
};

}  // namespace winnow::train
