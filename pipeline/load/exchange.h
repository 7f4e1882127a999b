#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "common/comm/communicator.h"
#include "pipeline/load/dataset.h"
#include "pipeline/load/loader.h"

namespace winnow::pipeline {

// A cache of which each machine of a job holds some blocks or partitions, and what is needed to get
// the records of the others. Immutable, the same on every rank.
class Spread;

// Collective: the ranks tell each other how large their records are. `cache` and `comm` must
// outlive what is returned; null where every machine holds all. Throws Error for a block or
// partition that is on no machine, FormatError for a damaged one.
std::shared_ptr<const Spread> spread(const Cache& cache, comm::Communicator& comm,
                                     const Placement& placement);

// What `rank` is to load for `batch`, asked on any rank and the same there. Batches end for all
// ranks alike: where one has nothing to load while others have, it gets requests of weight 0.
using RequestsOf = std::function<std::vector<Request>(int rank, std::uint64_t batch)>;

// What a job reads its samples from.
struct Source {
  std::shared_ptr<const Cache> cache;
  std::shared_ptr<const Spread> spread = nullptr;  // null: all of the cache is on this machine
};

// Plans what `requests_of` says, and fetches the records that this machine does not hold from the
// ranks that do: segment by segment, the next one while this one is loaded, on a thread of its own.
// Any sizes of segments give the same batches (Dong et al., "DIMD": distributed in-memory data with
// an all-to-all in segments; here what is exchanged are the records of coming batches instead of
// the partitions). Collective: planners are made in the same order on all ranks, and work begins
// with that; of two, one must be settled while the other is used. plan() throws what reading or
// sending threw, also for the sake of another rank. `seed` is that of LoadOptions.
//
// With null for `spread` all records are the cache's.
std::shared_ptr<Planner> make_planner(std::shared_ptr<const Spread> spread, int rank,
                                      RequestsOf requests_of, std::uint64_t seed);

}  // namespace winnow::pipeline
