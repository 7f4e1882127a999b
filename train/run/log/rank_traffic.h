#pragma once

#include <cstdint>

#include "train/plan/execution.h"

namespace winnow::train {

// Bytes of messages of one rank.
struct Traffic {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;

  friend bool operator==(const Traffic&, const Traffic&) = default;
};

// What the gradients of a step take, and all else that its micro-batches tell each other, each time
// that the step is computed. Sums over memory that ranks of a machine share are no messages. Pure.
Traffic traffic_of_step(const Execution& execution);

}  // namespace winnow::train
