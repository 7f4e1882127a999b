#pragma once

#include <chrono>

namespace winnow::comm {

// How a thread that polls shares its cores with threads that compute. After many polls that find
// nothing it sleeps between them, longer and longer up to a limit: a message that is about to come
// is found soon, and waiting for a late rank takes about a tenth of a core.
class Pace {
 public:
  // A poll has found something.
  void found() noexcept;

  // A poll has found nothing: sleeps if it is time to. Returns how long.
  std::chrono::microseconds rest();

 private:
  int empty_polls_ = 0;  // since something was last found
  std::chrono::microseconds nap_{};
};

// The calling thread's sleeps end within a microsecond or so. The usual 50 would drown short naps.
void nap_precisely() noexcept;

}  // namespace winnow::comm
