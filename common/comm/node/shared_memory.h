#pragma once

#include <memory>

#include "common/comm/communicator.h"
#include "common/comm/node/node_group.h"

namespace winnow::comm {

// The group of the ranks of `comm` on this rank's machine, over shared memory. Collective: called
// by all ranks of `comm`.
//
// Memory  Is unnamed, so nothing remains however processes end. At most 32 MiB for up to 90 ranks
//         of a machine.
// Errors  SystemError on all ranks: a machine has no memory for it, or its processes cannot see
//         each other's files in /proc.
std::unique_ptr<NodeGroup> make_shared_memory_group(Communicator& comm);

}  // namespace winnow::comm
