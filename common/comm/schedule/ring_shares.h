#pragma once

#include <cstddef>
#include <vector>

#include "common/comm/schedule/schedule.h"

namespace winnow::comm {

// Reduce-scatter round a ring (ShareSchedule): the part of rank r begins at rank r + 1, and each
// rank that it passes adds its own.
std::vector<Transfer> ring_reduce_scatter(const Placement& placement, std::size_t count,
                                          const ScheduleOptions& options);

// All-gather round a ring: each rank hands on what it has just received.
std::vector<Transfer> ring_all_gather(const Placement& placement, std::size_t count,
                                      const ScheduleOptions& options);

}  // namespace winnow::comm
