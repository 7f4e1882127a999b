#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/comm/communicator.h"

namespace winnow::train {

// Gathers byte arrays of all ranks on rank 0, in rank order. Collective.
//
// sizes   Bytes of each rank's array: multiples of 4, the same list on all ranks.
// part    This rank's array, with sizes[rank] bytes. On rank 0: room for the arrays of all ranks,
//         starting with its own. The others are written after it.
// Memory  None besides `part`.
void gather_on_root(comm::Communicator& comm, const std::vector<std::size_t>& sizes,
                    std::span<std::byte> part);

}  // namespace winnow::train
