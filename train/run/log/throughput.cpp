#include "train/run/log/throughput.h"

#include <algorithm>

namespace winnow::train {

void Throughput::begin(std::int64_t first_step, std::int64_t images_of_step) {
  images_of_step_ = images_of_step;
  run_ = {.first_step = first_step};
  interval_ = run_;
}

double Throughput::seconds() const {
  return std::chrono::duration<double>(Clock::now() - run_.begin).count();
}

double Throughput::of_run(std::int64_t step) const { return rate(run_, step); }
double Throughput::of_interval(std::int64_t step) const { return rate(interval_, step); }

void Throughput::begin_interval(std::int64_t step) { interval_ = {.first_step = step}; }

void Throughput::leave_out(double pause_seconds) {
  run_.paused_seconds += pause_seconds;
  interval_.paused_seconds += pause_seconds;
}

double Throughput::rate(const Span& span, std::int64_t step) const {
  const double seconds =
      std::chrono::duration<double>(Clock::now() - span.begin).count() - span.paused_seconds;
  return static_cast<double>((step - span.first_step) * images_of_step_) / std::max(seconds, 1e-9);
}

}  // namespace winnow::train
