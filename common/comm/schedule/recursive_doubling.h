#pragma once

#include <cstddef>
#include <vector>

#include "common/comm/schedule/schedule.h"

namespace winnow::comm {

// Recursive doubling: pairs of increasingly distant ranks exchange and add everything. The fewest
// hops, log2(p), with log2(p) times the buffer in each direction: for small buffers.
//
// Other numbers  Numbers of ranks that are no powers of two: the first 2(p-p') ranks, with p' the
//                power of two below p, add up in pairs; one of each pair then represents both, and
//                finally informs the other.
// Source         Thakur, Rabenseifner, Gropp 2005: Optimization of Collective Communication
//                Operations in MPICH
std::vector<Transfer> recursive_doubling_all_reduce(const Placement& placement, std::size_t count,
                                                    const ScheduleOptions& options);

}  // namespace winnow::comm
