#pragma once

#include <cstddef>

#include "common/comm/schedule/schedule.h"

namespace winnow::comm {

constexpr std::size_t divide_up(std::size_t value, std::size_t by) { return (value + by - 1) / by; }

// What every generator requires of its arguments; throws Error or UsageError.
void check_arguments(int rank, int ranks, const ScheduleOptions& options);

// `count` chains as Transfer numbers them; throws UsageError when an int cannot hold so many.
int checked_chains(std::size_t count);

}  // namespace winnow::comm
