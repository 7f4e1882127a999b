#pragma once

#include <memory>

#include "common/comm/communicator.h"
#include "common/comm/node/node_group.h"

namespace winnow::comm {

// The group of the ranks of `comm` on this rank's machine, over memory that they share. Called by
// all ranks of `comm`; it talks to them until it returns, not later.
//
// Memory  has no name: nothing is left behind however processes end. At most 32 MiB for up to 90
//         ranks of a machine
// Throws  SystemError on all ranks: a machine has no memory for it, or its processes cannot see
//         each other's files in /proc
std::unique_ptr<NodeGroup> make_shared_memory_group(Communicator& comm);

}  // namespace winnow::comm
