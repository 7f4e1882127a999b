#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/health/diagnosis.h"

namespace winnow::health {

// When people are told of a rank that holds up every step. It has no clock: `at` is its
// caller's, in seconds.
class Stragglers {
 public:
  // `share`: of a step, as in find_straggler.
  Stragglers(int ranks, double share) : share_(share), known_(static_cast<std::size_t>(ranks)) {}

  // Once a second. Out: one that has held up all others for half a minute, or for some seconds
  // where it takes several times as long; once in half an hour while that lasts, and anew when it
  // was over for a minute. Time in which no step ends does not count.
  std::optional<Straggler> to_tell(std::span<const Seen> seen, double at);

 private:
  struct Known {
    double at = -1;  // it held up all others
    double told_at = -1;
  };

  // Whether no step of that rank has ended when one should have.
  bool stands_still(const Status& last, double at);

  const double share_;
  std::vector<Known> known_;
  int rank_ = -1;  // that may be one
  std::int64_t step_ = 0;
  double stepped_at_ = 0;
  int straggles_s_ = 0;  // that it did, less twice those in which it did not; see weight_of()
};

}  // namespace winnow::health
