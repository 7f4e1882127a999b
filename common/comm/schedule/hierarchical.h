#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "common/comm/schedule/schedule.h"

namespace winnow::comm {

// Multi-colour all-reduce (multicolor.h) in two levels. Each part of the buffer is summed within
// every machine by one of its ranks, then over the machines along a tree, and is distributed the
// same way back. The ranks of a machine take equal shares of each colour.
//
// Traffic  Between machines as in multicolor with one rank a machine, in equal shares of a
//          machine's ranks. Machines with as many ranks as the largest divide it evenly.
// Equal    To multicolor if each machine has one rank.
// Source   Sreedhar et al. 2017, arXiv:1711.00705
inline constexpr std::string_view kHierarchicalSchedule = "hierarchical";
std::vector<Transfer> hierarchical_all_reduce(const Placement& placement, std::size_t count,
                                              const ScheduleOptions& options);

// The all-reduce in two levels, if the ranks of a machine have faster means than messages
// (node/node_group.h). They reduce-scatter the buffer, so that each has the machine's sum of its
// share. The transfers `between` sum that share over the machines. Then the ranks of a machine
// gather the shares.
//
// Shares   Contiguous, equal except for the last, as many as the smallest machine has ranks. In a
//          larger machine the other ranks have empty shares.
// Between  Among the ranks with the same share, one of each machine. Groups of different shares
//          have no rank in common. Transfers count elements from the first one of the share. Empty
//          for one machine or an empty share.
struct HierarchicalParts {
  // Offsets where the share of each of this machine's ranks begins, and the end of the last.
  std::vector<std::size_t> shares;
  std::vector<Transfer> between;
};

// The shares and transfers for placement.rank. Pure. Throws as Schedule::all_reduce.
HierarchicalParts hierarchical_parts(const Placement& placement, std::size_t count,
                                     const ScheduleOptions& options);

}  // namespace winnow::comm
