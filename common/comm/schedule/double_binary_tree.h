#pragma once

#include <cstddef>
#include <vector>

#include "common/comm/schedule/schedule.h"
#include "common/comm/schedule/tree.h"

namespace winnow::comm {

// Two binary trees, each for half of the buffer; a rank is inside of at most one of them, but for
// rank 0 of an odd number. What NCCL takes between machines: the rival of multi-colour.
//
// Hops    2 ceil(log2(p))
// Source  Sanders, Speck, Träff 2009: Two-tree algorithms for full bandwidth broadcast, reduction
//         and scan
std::vector<Transfer> double_binary_tree_all_reduce(const Placement& placement, std::size_t count,
                                                    const ScheduleOptions& options);

// Where `rank` is in tree 0 or 1.
TreePlace double_binary_tree_place(int rank, int ranks, int tree);

}  // namespace winnow::comm
