#pragma once

#include <functional>
#include <span>
#include <vector>

#include "common/comm/schedule/transfer.h"

namespace winnow::comm {

// Plans the transfers of placement.rank.
using PlanTransfers = std::function<std::vector<Transfer>(const Placement&)>;

// A collective of some ranks: `plan` is asked for them as if they were all. Pure.
//
// In      `ranks`: numbers of the placement, in the order in which `plan` counts them.
// Out     This rank's transfers; peers are numbers of the placement. Empty for other ranks.
// Errors  Error: a rank twice, or none of the placement. What `plan` throws.
std::vector<Transfer> among(const Placement& placement, std::span<const int> ranks,
                            const PlanTransfers& plan);

}  // namespace winnow::comm
