#pragma once

#include <cstddef>
#include <vector>

#include "common/comm/schedule/schedule.h"

namespace winnow::comm {

// Rabenseifner's all-reduce: reduce-scatter by recursive halving, all-gather by recursive doubling.
// Minimal traffic for powers of two: 2(p-1)/p of the buffer in each direction, in 2 log2(p) hops.
//
// Other numbers  The first 2(p-p') ranks, with p' the power of two below p, add up in pairs; one of
//                each pair then represents both, and finally informs the other.
// Messages       Of at most options.segment_elements: the buffer is divided into chains twice as
//                long.
// Source         Thakur, Rabenseifner, Gropp 2005: Optimization of Collective Communication
//                Operations in MPICH
std::vector<Transfer> rabenseifner_all_reduce(const Placement& placement, std::size_t count,
                                              const ScheduleOptions& options);

}  // namespace winnow::comm
