#pragma once

#include <cstdint>

#include "train/plan/execution.h"

namespace winnow::train {

// Bytes in messages of one rank.
struct Traffic {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;

  friend bool operator==(const Traffic&, const Traffic&) = default;
};

// Traffic of computing a step once: its gradients, and everything else that its micro-batches
// exchange. Sums over memory shared by ranks of a machine are not messages. Pure.
Traffic traffic_of_step(const Execution& execution);

}  // namespace winnow::train
