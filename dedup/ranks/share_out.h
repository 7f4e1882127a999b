#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "common/bytes.h"
#include "common/comm/communicator.h"

namespace winnow::dedup {

// One round of work that rank 0 distributes. Collective: called by all ranks.
//
// pack     On rank 0, for each rank in order: the input of that rank.
// work     On each rank: turns its input (followed by up to three zeros) into an answer.
// Returns  On rank 0 the answers (followed by zeros likewise), in the order of ranks; elsewhere
//          nothing.
// Memory   On rank 0, first all inputs, then all answers.
// Errors   What `pack` or `work` throw, on all ranks (comm::on_all). Neither may communicate.
std::vector<Bytes> share_out(comm::Communicator& comm, const std::function<Bytes(int rank)>& pack,
                             const std::function<Bytes(BytesView share)>& work);

// A rank's share of `count` items: equal contiguous ranges, in order.
struct ShareRange {
  std::size_t begin = 0;
  std::size_t count = 0;
};
ShareRange share_of(std::size_t count, int rank, int ranks) noexcept;

}  // namespace winnow::dedup
