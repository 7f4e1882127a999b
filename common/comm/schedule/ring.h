#pragma once

#include <cstddef>
#include <vector>

#include "common/comm/schedule/schedule.h"

namespace winnow::comm {

// All-reduce around a ring of p ranks: reduce-scatter, then all-gather. Minimal traffic, 2(p-1)
// hops.
std::vector<Transfer> ring_all_reduce(const Placement& placement, std::size_t count,
                                      const ScheduleOptions& options);

}  // namespace winnow::comm
