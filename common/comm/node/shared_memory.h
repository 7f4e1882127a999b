#pragma once

#include <memory>

#include "common/comm/communicator.h"
#include "common/comm/node/node_group.h"

namespace winnow::comm {

// The ranks of `comm` on this rank's machine, as a NodeGroup that uses shared memory. Collective:
// called by all ranks of `comm`.
//
// Memory  Unnamed, so nothing remains however processes end. At most 32 MiB for up to 90 ranks of a
//         machine.
// Errors  SystemError on all ranks: a machine has too little shared memory, or its processes cannot
//         open each other's files in /proc.
std::unique_ptr<NodeGroup> make_shared_memory_group(Communicator& comm);

}  // namespace winnow::comm
