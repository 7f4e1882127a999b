#pragma once

#include <span>
#include <vector>

#include "common/health/diagnosis.h"

namespace winnow::health {

// Decides when to report stragglers, ranks that delay every step. It has no clock: `at` is the
// caller's time in seconds.
class Stragglers {
 public:
  // share  Least delay that counts, as share of a step, as in find_stragglers().
  Stragglers(int ranks, double share) : share_(share), known_(static_cast<std::size_t>(ranks)) {}

  // Returns the stragglers to report now: those that have delayed all others for half a minute, or
  // for some seconds if they take several times as long. Call it once a second. Each is reported
  // once in half an hour while that lasts, and again after a pause of at least a minute. Time in
  // which a rank stands still does not count.
  std::vector<Straggler> to_tell(std::span<const Seen> seen, double at);

 private:
  struct Known {
    // Seconds in which the rank delayed others, minus twice those in which it did not; see
    // weight_of().
    int straggles_s = 0;
    double at = -1;  // time at which the rank last delayed all others; -1: never
    double told_at = -1;
  };

  const double share_;
  std::vector<Known> known_;
};

}  // namespace winnow::health
