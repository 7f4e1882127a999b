#pragma once

#include <cstddef>
#include <vector>

#include "common/comm/schedule/schedule.h"

namespace winnow::comm {

// All-reduce by recursive doubling: pairs of increasingly distant ranks exchange and add the whole
// buffer. For p ranks, a power of two, it has the fewest hops, log2(p), with log2(p) times the
// buffer in each direction. Good for small buffers.
//
// Other p  Let p' be the power of two below p. The first 2(p-p') ranks add up in pairs; one of each
//          pair then represents both, and finally sends the result to the other.
// Source   Thakur, Rabenseifner, Gropp 2005: Optimization of Collective Communication Operations in
//          MPICH
std::vector<Transfer> recursive_doubling_all_reduce(const Placement& placement, std::size_t count,
                                                    const ScheduleOptions& options);

}  // namespace winnow::comm
