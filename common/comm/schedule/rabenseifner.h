#pragma once

#include <cstddef>
#include <vector>

#include "common/comm/schedule/schedule.h"

namespace winnow::comm {

// Rabenseifner's all-reduce: reduce-scatter by recursive halving, all-gather by recursive doubling.
// Least traffic for powers of two, 2(p-1)/p of the buffer each way, in 2 log2(p) hops.
//
// Other numbers  the first 2(p-p') ranks, p' the power of two below p, add up in pairs; then one of
//                each pair stands for both, and in the end tells the other
// Messages       of options.segment_elements at most: the buffer is cut into chains twice as long
// Source         Thakur, Rabenseifner, Gropp 2005: Optimization of Collective Communication
//                Operations in MPICH
std::vector<Transfer> rabenseifner_all_reduce(const Placement& placement, std::size_t count,
                                              const ScheduleOptions& options);

}  // namespace winnow::comm
