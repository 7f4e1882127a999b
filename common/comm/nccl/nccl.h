#pragma once

#include <chrono>
#include <memory>

#include "common/comm/communicator.h"
#include "common/comm/node/node_group.h"

namespace winnow::comm {

bool nccl_built() noexcept;

// The cards of the ranks of `comm` on this rank's machine, by NCCL. Called by all ranks of `comm`,
// each with its card as the current device of this thread; it talks to them until it returns.
//
// Buffers     in the card's memory, written before an operation is started
// Streams     two of its own, one for each kind of operation, and a communicator of NCCL for each
// Order       of additions: NCCL's, which stays the same for the same cards, shares and settings
// Shares      equal ones by ncclReduceScatter and ncclAllGather; others by a group of an ncclReduce
//             or an ncclBroadcast for each share, for those calls know no other
// Failure     an error of NCCL, or an operation that is not over after `patience`: both
//             communicators are aborted, and advance() throws
// Throws      SystemError. Error: this build has no NCCL
// Unproved    it was compiled and never run
std::unique_ptr<NodeGroup> make_nccl_group(
    Communicator& comm, std::chrono::seconds patience = std::chrono::minutes(10));

}  // namespace winnow::comm
