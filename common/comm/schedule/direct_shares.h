#pragma once

#include <cstddef>
#include <vector>

#include "common/comm/schedule/schedule.h"

namespace winnow::comm {

// Reduce-scatter in one hop (ShareSchedule): each rank sends each other one that one's part.
//
// Rounds  a rank sends and receives eight messages at a time, to and from ever farther ranks, so
//         that what waits to be added needs little memory
std::vector<Transfer> direct_reduce_scatter(const Placement& placement, std::size_t count,
                                            const ScheduleOptions& options);

// All-gather in one hop: each rank sends its own part to each other one.
std::vector<Transfer> direct_all_gather(const Placement& placement, std::size_t count,
                                        const ScheduleOptions& options);

}  // namespace winnow::comm
