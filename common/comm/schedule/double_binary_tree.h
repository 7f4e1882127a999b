#pragma once

#include <cstddef>
#include <vector>

#include "common/comm/schedule/schedule.h"
#include "common/comm/schedule/tree.h"

namespace winnow::comm {

// All-reduce along two binary trees, each for half of the buffer. Every rank is an inner node of at
// most one tree, except rank 0 for odd numbers of ranks. NCCL's choice between machines: an
// alternative to multicolor.
//
// Hops    2 ceil(log2(p)) for p ranks
// Source  Sanders, Speck, Träff 2009: Two-tree algorithms for full bandwidth broadcast, reduction
//         and scan
std::vector<Transfer> double_binary_tree_all_reduce(const Placement& placement, std::size_t count,
                                                    const ScheduleOptions& options);

// Parent and children of `rank` in tree 0 or 1.
TreePlace double_binary_tree_place(int rank, int ranks, int tree);

}  // namespace winnow::comm
