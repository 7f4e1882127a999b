#pragma once

#include <cstdint>

#include "train/plan/execution.h"

namespace winnow::train {

// Bytes that one rank sends and receives in messages.
struct Traffic {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;

  friend bool operator==(const Traffic&, const Traffic&) = default;
};

// Bytes that computing one step sends and receives: gradients, batch norm statistics, and values
// between stages of a pipeline. Pure.
// Sums over memory that ranks of a machine share do not count as messages.
Traffic traffic_of_step(const Execution& execution);

}  // namespace winnow::train
