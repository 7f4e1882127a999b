#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "common/bytes.h"
#include "common/comm/communicator.h"

namespace winnow::dedup {

// One round of work that rank 0 deals out.
//
// Called by all ranks.
// pack     on rank 0, for each rank in order: what that rank gets
// work     on each rank: its answer to what it got, behind which up to three zeros follow
// Returns  on rank 0 the answers, likewise, in the order of ranks; else nothing
// Memory   on rank 0 what is dealt out, and then all answers
// Throws   what `pack` or `work` throw, on all ranks (comm::on_all). Neither may communicate
std::vector<Bytes> share_out(comm::Communicator& comm, const std::function<Bytes(int rank)>& pack,
                             const std::function<Bytes(BytesView share)>& work);

// The range of `count` things that is a rank's share: equal ones, in order.
struct ShareRange {
  std::size_t begin = 0;
  std::size_t count = 0;
};
ShareRange share_of(std::size_t count, int rank, int ranks) noexcept;

}  // namespace winnow::dedup
