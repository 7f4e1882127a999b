#pragma once

#include <cstddef>
#include <vector>

#include "common/comm/schedule/schedule.h"

namespace winnow::comm {

// Recursive doubling: pairs of ranks ever farther apart exchange all they have and add it up. The
// fewest hops, log2(p), and log2(p) times the buffer each way: for small buffers.
//
// Other numbers  of ranks than powers of two: the first 2(p-p') ranks, p' the power of two below p,
//                add up in pairs; one of each pair stands for both, and in the end tells the other
// Source         Thakur, Rabenseifner, Gropp 2005: Optimization of Collective Communication
//                Operations in MPICH
std::vector<Transfer> recursive_doubling_all_reduce(const Placement& placement, std::size_t count,
                                                    const ScheduleOptions& options);

}  // namespace winnow::comm
