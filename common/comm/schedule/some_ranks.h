#pragma once

#include <functional>
#include <span>
#include <vector>

#include "common/comm/schedule/transfer.h"

namespace winnow::comm {

// Plans a collective for all ranks of a placement; returns the transfers of placement.rank.
using PlanTransfers = std::function<std::vector<Transfer>(const Placement&)>;

// Plans a collective of some ranks: calls `plan` as if these were all ranks. Pure.
//
// ranks    Numbers in `placement`, in the order in which `plan` counts them.
// Returns  The transfers of placement.rank, with peers by their numbers in `placement`. Empty if it
//          is none of `ranks`.
// Errors   Error: a rank twice, or one that `placement` does not have. Exceptions of `plan`.
std::vector<Transfer> among(const Placement& placement, std::span<const int> ranks,
                            const PlanTransfers& plan);

}  // namespace winnow::comm
