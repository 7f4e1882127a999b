#pragma once

#include <chrono>
#include <cstdint>

namespace winnow::train {

// Measures images per second, over the whole run and since the last line of metrics. Pauses for
// checkpoints and evaluation are excluded.
class Throughput {
 public:
  // Starts the clock when `first_step` steps are done. `images_of_step`: images that all ranks
  // process in one step.
  void begin(std::int64_t first_step, std::int64_t images_of_step);

  double seconds() const;  // seconds since begin(), including pauses
  double of_run(std::int64_t step) const;
  double of_interval(std::int64_t step) const;
  void begin_interval(std::int64_t step);
  void leave_out(double pause_seconds);

 private:
  using Clock = std::chrono::steady_clock;
  struct Span {
    Clock::time_point begin = Clock::now();
    std::int64_t first_step = 0;
    double paused_seconds = 0;
  };
  double rate(const Span& span, std::int64_t step) const;

  std::int64_t images_of_step_ = 0;
  Span run_;
  Span interval_;
};

}  // namespace winnow::train
