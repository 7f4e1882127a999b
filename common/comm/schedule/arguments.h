#pragma once

#include <cstddef>

#include "common/comm/schedule/schedule.h"

namespace winnow::comm {

constexpr std::size_t divide_up(std::size_t value, std::size_t by) { return (value + by - 1) / by; }

// Checks the arguments common to all generators; throws Error or UsageError.
void check_arguments(int rank, int ranks, const ScheduleOptions& options);

// The number of chains for Transfer; UsageError if it does not fit into an int.
int checked_chains(std::size_t count);

}  // namespace winnow::comm
