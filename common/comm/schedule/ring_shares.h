#pragma once

#include <cstddef>
#include <vector>

#include "common/comm/schedule/schedule.h"

namespace winnow::comm {

// Reduce-scatter around a ring (ShareSchedule): the part of rank r starts at rank r + 1 and is
// passed on until it reaches rank r. Each rank on the way adds its own.
std::vector<Transfer> ring_reduce_scatter(const Placement& placement, std::size_t count,
                                          const ScheduleOptions& options);

// All-gather around a ring (ShareSchedule): each rank passes on the part that it has just received.
std::vector<Transfer> ring_all_gather(const Placement& placement, std::size_t count,
                                      const ScheduleOptions& options);

}  // namespace winnow::comm
