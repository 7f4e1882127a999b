#pragma once

#include <algorithm>
#include <ctime>
#include <functional>
#include <limits>

namespace winnow::test {

// Processor time of this thread, in seconds.
inline double processor_seconds() {
  std::timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Processor time of `work` in seconds: the minimum of three calls, to reduce the influence of a
// busy machine.
inline double processor_seconds_of(const std::function<void()>& work) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3; ++i) {
    const double before = processor_seconds();
    work();
    least = std::min(least, processor_seconds() - before);
  }
  return least;
}

// How many times longer `work` takes for 8 * `size` than for `size`. Linear time gives about 8,
// quadratic time about 64.
inline double growth(int size, const std::function<void(int)>& work) {
  const double once = processor_seconds_of([&] { work(size); });
  return processor_seconds_of([&] { work(8 * size); }) / once;
}
inline constexpr double kGrowthOfLinear = 22;  // the limit for linear time, between 8 and 64

}  // namespace winnow::test
