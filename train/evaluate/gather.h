#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/comm/communicator.h"

namespace winnow::train {

// Brings the parts that ranks have to rank 0, one behind the other in the order of the ranks.
//
// sizes    Bytes of each rank's part: the same on all ranks, multiples of 4.
// part     This rank's, sizes[rank] bytes. On rank 0: all of it, the sum of sizes, with its own
// part
//          in its place, which is the first. The other ranks' parts are written behind it.
// Collective. No memory besides `part`.
void gather_on_root(comm::Communicator& comm, const std::vector<std::size_t>& sizes,
                    std::span<std::byte> part);

}  // namespace winnow::train
