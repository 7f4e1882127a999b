#pragma once

#include <chrono>
#include <memory>

#include "common/comm/communicator.h"
#include "common/comm/node/node_group.h"

namespace winnow::comm {

bool nccl_built() noexcept;

// The GPUs of the ranks of `comm` on this rank's machine, as a NodeGroup that uses NCCL.
// Collective: called by all ranks of `comm`, each with its GPU as the current device of this
// thread.
//
// Buffers     In GPU memory, written before an operation starts.
// Streams     Two of its own, one for each kind of operation, each with its own NCCL communicator.
// Order       Additions follow NCCL's order, which is constant for the same GPUs, shares and
//             settings.
// Shares      Equal ones use ncclReduceScatter and ncclAllGather. Others use a group of ncclReduce
//             or ncclBroadcast, one for each share.
// Failure     After an error of NCCL, or if an operation takes longer than `patience`, both NCCL
//             communicators are aborted, and advance() throws.
// Errors      SystemError. Error: this build has no NCCL.
// Untested    It compiles, but was never run.
std::unique_ptr<NodeGroup> make_nccl_group(
    Communicator& comm, std::chrono::seconds patience = std::chrono::minutes(10));

}  // namespace winnow::comm
