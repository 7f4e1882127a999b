#pragma once

#include <cstddef>
#include <vector>

#include "common/comm/schedule/schedule.h"

namespace winnow::comm {

// Multi-colour all-reduce between machines: each part of the buffer is summed up inside every
// machine by one of its ranks, then over the machines by a tree of its colour, and comes back the
// same way. A machine's ranks take equal shares of each colour.
//
// Traffic  between machines: that of multicolor over the machines, each rank of a machine with an
//          equal share; machines with as many ranks as the largest divide it evenly
// Equal    to multicolor where each machine has one rank
// Source   Sreedhar et al. 2017, arXiv:1711.00705
std::vector<Transfer> hierarchical_all_reduce(const Placement& placement, std::size_t count,
                                              const ScheduleOptions& options);

}  // namespace winnow::comm
