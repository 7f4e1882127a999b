#pragma once

#include <cstddef>
#include <vector>

#include "common/comm/schedule/schedule.h"

namespace winnow::comm {

// Reduce-scatter around a ring (ShareSchedule): the part of rank r starts at rank r + 1, and each
// rank it passes adds its own.
std::vector<Transfer> ring_reduce_scatter(const Placement& placement, std::size_t count,
                                          const ScheduleOptions& options);

// All-gather around a ring: each rank passes on what it has just received.
std::vector<Transfer> ring_all_gather(const Placement& placement, std::size_t count,
                                      const ScheduleOptions& options);

}  // namespace winnow::comm
