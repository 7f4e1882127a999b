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

// A cache of which each machine of a job holds some blocks or partitions, with everything needed to
// get records from the others. Immutable, the same on every rank.
class Spread;

// Collective. The ranks exchange the sizes of their records. `cache` and `comm` must outlive the
// result, which is null if every machine holds everything.
// Errors  Error for a block or partition that no machine has; FormatError for a damaged one.
std::shared_ptr<const Spread> spread(const Cache& cache, comm::Communicator& comm,
                                     const Placement& placement);

// The requests of `rank` for `batch`. May be asked on any rank, with the same answer. All ranks
// have the same number of batches: a rank without samples gets requests of weight 0.
using RequestsOf = std::function<std::vector<Request>(int rank, std::uint64_t batch)>;

// The data source of a job.
struct Source {
  std::shared_ptr<const Cache> cache;
  std::shared_ptr<const Spread> spread = nullptr;  // null: this machine has the whole cache
};

// Makes a planner for `requests_of` that fetches the records missing on this machine from other
// ranks, segment by segment. The next segment is fetched while the current one is loaded, on a
// thread of its own. With a null `spread` all records come from the cache.
//
// Out         Batches do not depend on the size of segments.
// Collective  Planners must be made in the same order on all ranks; their work begins then. Of two,
//             one must be settled while the other is used.
// Errors      plan() throws errors of reading and sending, also those of other ranks.
// seed        As in LoadOptions.
// Source      Dong et al., "DIMD": distributed in-memory data with an all-to-all in segments; here
//             the records of coming batches are exchanged, not the partitions.
std::shared_ptr<Planner> make_planner(std::shared_ptr<const Spread> spread, int rank,
                                      RequestsOf requests_of, std::uint64_t seed);

}  // namespace winnow::pipeline
