#pragma once

#include <cstddef>
#include <vector>

#include "common/comm/schedule/schedule.h"

namespace winnow::comm {

// Rabenseifner's all-reduce: reduce-scatter by recursive halving, all-gather by recursive doubling.
// For p ranks, a power of two, traffic is minimal: 2(p-1)/p of the buffer in each direction, in 2
// log2(p) hops.
//
// Other p   Let p' be the power of two below p. The first 2(p-p') ranks add up in pairs; one of
//           each pair then represents both, and finally sends the result to the other.
// Messages  Of at most options.segment_elements: the buffer is divided into chains twice as long.
// Source    Thakur, Rabenseifner, Gropp 2005: Optimization of Collective Communication Operations
//           in MPICH
std::vector<Transfer> rabenseifner_all_reduce(const Placement& placement, std::size_t count,
                                              const ScheduleOptions& options);

}  // namespace winnow::comm
