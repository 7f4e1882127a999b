#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/comm/communicator.h"

namespace winnow::train {

// Gathers the parts of all ranks on rank 0, in rank order. Collective.
//
// sizes   Bytes of each rank's part: multiples of 4, the same on all ranks.
// part    This rank's part, with sizes[rank] bytes. On rank 0: room for all parts, the sum of
//         sizes, starting with its own. The other parts are written after it.
// Memory  None besides `part`.
void gather_on_root(comm::Communicator& comm, const std::vector<std::size_t>& sizes,
                    std::span<std::byte> part);

}  // namespace winnow::train
