#pragma once

#include <cstddef>

#include "common/comm/schedule/schedule.h"

namespace winnow::comm {

constexpr std::size_t divide_up(std::size_t value, std::size_t by) { return (value + by - 1) / by; }

// Checks the arguments that all generators of schedules have. Throws Error or UsageError.
void check_arguments(int rank, int ranks, const ScheduleOptions& options);

// Converts a number of chains to the type of Transfer::chain. Throws UsageError if it is too large
// for an int.
int checked_chains(std::size_t count);

}  // namespace winnow::comm
