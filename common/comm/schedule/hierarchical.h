#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "common/comm/schedule/schedule.h"

namespace winnow::comm {

// Multi-colour all-reduce between machines. Each part of the buffer is summed within every machine
// by one of its ranks, then over the machines along a tree of its colour, and is distributed the
// same way back. A machine's ranks take equal shares of each colour.
//
// Traffic  Between machines: that of multicolor over the machines, in equal shares of a machine's
//          ranks. Machines with as many ranks as the largest divide it evenly.
// Equal    To multicolor if each machine has one rank.
// Source   Sreedhar et al. 2017, arXiv:1711.00705
inline constexpr std::string_view kHierarchicalSchedule = "hierarchical";
std::vector<Transfer> hierarchical_all_reduce(const Placement& placement, std::size_t count,
                                              const ScheduleOptions& options);

// The same if a machine's ranks have faster means than messages (node/node_group.h). They
// reduce-scatter the buffer, so that each has the machine's sum of its share; `between` sums that
// share over the machines; then they gather the shares.
//
// Shares   Contiguous, equal except for the last, as many as the smallest machine has ranks. In a
//          larger machine the other ranks have empty shares.
// Between  The ranks with the same share: one of each machine. Groups of different shares have no
//          rank in common. Transfers count elements from the share's first one. Empty for one
//          machine or an empty share.
struct HierarchicalParts {
  std::vector<std::size_t> shares;  // offsets of the shares of this machine's ranks, and the end
  std::vector<Transfer> between;
};

// The parts for placement.rank. Pure. Throws like every schedule.
HierarchicalParts hierarchical_parts(const Placement& placement, std::size_t count,
                                     const ScheduleOptions& options);

}  // namespace winnow::comm
