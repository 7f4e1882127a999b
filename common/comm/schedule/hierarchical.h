#pragma once

#include <cstddef>
#include <string_view>
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
inline constexpr std::string_view kHierarchicalSchedule = "hierarchical";
std::vector<Transfer> hierarchical_all_reduce(const Placement& placement, std::size_t count,
                                              const ScheduleOptions& options);

// The same where a machine's ranks have faster ways than messages (see node/node_group.h): they
// reduce-scatter the buffer, so that each has the machine's sum of its share; `between` sums that
// share over the machines; then they gather the shares.
//
// Shares   contiguous, equal but for the last, and as many as the smallest machine has ranks: in
//          a larger one the other ranks have empty shares
// Between  the ranks that have a share of the same place: one of each machine, none of them in two
//          such groups. Its transfers count elements from the share's first one. Empty: one
//          machine, or an empty share
struct HierarchicalParts {
  std::vector<std::size_t> shares;  // offsets of the shares of this machine's ranks; one more
  std::vector<Transfer> between;
};

// Of placement.rank. Pure. Throws as every schedule does.
HierarchicalParts hierarchical_parts(const Placement& placement, std::size_t count,
                                     const ScheduleOptions& options);

}  // namespace winnow::comm
