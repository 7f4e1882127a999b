#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "common/bytes.h"
#include "common/comm/communicator.h"

namespace winnow::dedup {

// Lets all ranks work on one job: rank 0 sends each rank its input and gathers the answers.
// Collective: called by all ranks.
//
// pack     On rank 0, called for each rank in order: returns the input of that rank.
// work     On each rank: turns its input, followed by up to three zero bytes, into an answer.
// Returns  On rank 0 the answers in the order of ranks, each followed by up to three zero bytes;
//          elsewhere nothing.
// Memory   On rank 0, first all inputs, then all answers.
// Errors   An exception of `pack` or `work` is thrown on all ranks (comm::on_all). Neither may
//          communicate.
std::vector<Bytes> share_out(comm::Communicator& comm, const std::function<Bytes(int rank)>& pack,
                             const std::function<Bytes(BytesView share)>& work);

// The share of `count` items that a rank works on. Shares are contiguous, in order of ranks, of
// equal size to within one.
struct ShareRange {
  std::size_t begin = 0;
  std::size_t count = 0;
};
ShareRange share_of(std::size_t count, int rank, int ranks) noexcept;

}  // namespace winnow::dedup
