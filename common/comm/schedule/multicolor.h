#pragma once

#include <cstddef>
#include <vector>

#include "common/comm/schedule/schedule.h"
#include "common/comm/schedule/tree.h"

namespace winnow::comm {

// Multi-colour all-reduce: the buffer is divided into `colors` parts. Each part is summed along a
// tree of its own and distributed back, so that no rank or link carries everything. A part is
// divided into segments, which are pipelined.
//
// Children  options.children of a rank in a tree. 0: the smallest number for which no rank is an
//           inner node of two trees. If ranks mod colors is in {0, 1, 2}, no rank then sends or
//           receives more than twice the buffer.
// Source    Sreedhar et al. 2017, arXiv:1711.00705
std::vector<Transfer> multicolor_all_reduce(const Placement& placement, std::size_t count,
                                            const ScheduleOptions& options);

// Parent and children of `rank` in the tree of one colour.
//
// In      0 <= color < min(options.colors, ranks), 0 <= rank < ranks
// Errors  Error: no such tree or rank.
TreePlace multicolor_place(int rank, int ranks, int color, const ScheduleOptions& options);

}  // namespace winnow::comm
