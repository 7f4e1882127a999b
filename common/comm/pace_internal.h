#pragma once

#include <chrono>

namespace winnow::comm {

// How a polling thread shares its cores with computing threads. After many empty polls it sleeps
// between them, increasingly longer up to a limit: an imminent message is found soon, and waiting
// for a late rank takes about a tenth of a core.
class Pace {
 public:
  // Resets the pace. Call it after a successful poll.
  void found() noexcept;

  // Sleeps if it is time to. Call it after an empty poll. Returns how long it slept.
  std::chrono::microseconds rest();

 private:
  int empty_polls_ = 0;  // since the last success
  std::chrono::microseconds nap_{};
};

// Makes the calling thread's sleeps precise to about a microsecond, because the usual slack of 50
// would dominate short ones.
void nap_precisely() noexcept;

}  // namespace winnow::comm
