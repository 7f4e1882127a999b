#pragma once

#include <algorithm>
#include <ctime>
#include <functional>
#include <limits>

namespace winnow::test {

// Seconds of the processor that this thread has spent.
inline double processor_seconds() {
  std::timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Those that it spends in `work`: the least of three calls, so that neighbours on a busy machine
// count little.
inline double processor_seconds_of(const std::function<void()>& work) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3; ++i) {
    const double before = processor_seconds();
    work();
    least = std::min(least, processor_seconds() - before);
  }
  return least;
}

// How many times longer `work` takes for 8 * `size` than for `size`: about 8 where the size bounds
// its time, about 64 where the square of the size does.
inline double growth(int size, const std::function<void(int)>& work) {
  const double once = processor_seconds_of([&] { work(size); });
  return processor_seconds_of([&] { work(8 * size); }) / once;
}
inline constexpr double kGrowthOfLinear = 22;  // at most: between the two

}  // namespace winnow::test
