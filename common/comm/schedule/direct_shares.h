#pragma once

#include <cstddef>
#include <vector>

#include "common/comm/schedule/schedule.h"

namespace winnow::comm {

// Reduce-scatter in one hop (ShareSchedule): each rank sends every other rank the part that it will
// own.
//
// Rounds  A rank sends and receives eight messages at a time, with increasingly distant ranks, so
//         that pending additions need little memory.
std::vector<Transfer> direct_reduce_scatter(const Placement& placement, std::size_t count,
                                            const ScheduleOptions& options);

// All-gather in one hop (ShareSchedule): each rank sends its own part to every other rank.
std::vector<Transfer> direct_all_gather(const Placement& placement, std::size_t count,
                                        const ScheduleOptions& options);

}  // namespace winnow::comm
