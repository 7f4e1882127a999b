#pragma once

#include <span>
#include <vector>

#include "common/health/diagnosis.h"

namespace winnow::health {

// When people are told of ranks that hold up every step. It has no clock: `at` is its
// caller's, in seconds.
class Stragglers {
 public:
  // `share`: of a step, as in find_stragglers.
  Stragglers(int ranks, double share) : share_(share), known_(static_cast<std::size_t>(ranks)) {}

  // Once a second. Out: those that have held up all others for half a minute, or for some seconds
  // where they take several times as long; each once in half an hour while that lasts, and anew
  // when it was over for a minute. Time in which a rank stands still does not count.
  std::vector<Straggler> to_tell(std::span<const Seen> seen, double at);

 private:
  struct Known {
    int straggles_s = 0;  // that it did, less twice those in which it did not; see weight_of()
    double at = -1;       // it held up all others
    double told_at = -1;
  };

  const double share_;
  std::vector<Known> known_;
};

}  // namespace winnow::health
