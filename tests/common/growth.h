#pragma once

#include <algorithm>
#include <ctime>
#include <functional>
#include <limits>

namespace winnow::test {

// CPU seconds of this thread so far.
inline double processor_seconds() {
  std::timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// CPU seconds of `work`: the least of three calls, so that other load on the machine counts little.
inline double processor_seconds_of(const std::function<void()>& work) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3; ++i) {
    const double before = processor_seconds();
    work();
    least = std::min(least, processor_seconds() - before);
  }
  return least;
}

// Ratio of the time of `work` for 8 * `size` to that for `size`: about 8 if time is linear in size,
// about 64 if it is quadratic.
inline double growth(int size, const std::function<void(int)>& work) {
  const double once = processor_seconds_of([&] { work(size); });
  return processor_seconds_of([&] { work(8 * size); }) / once;
}
inline constexpr double kGrowthOfLinear = 22;  // upper limit, between the two

}  // namespace winnow::test
