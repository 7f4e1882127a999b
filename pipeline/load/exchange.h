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

// A cache whose records are distributed over the machines of a job by blocks or partitions, and
// what is needed to get records from other machines. Immutable, the same on every rank.
class Spread;

// Makes a Spread; null if every machine has all records. Collective: the ranks exchange the sizes
// of their records. `cache` and `comm` must outlive the result.
// Errors  Error for a block or partition that no machine has; FormatError for a damaged one.
std::shared_ptr<const Spread> spread(const Cache& cache, comm::Communicator& comm,
                                     const Placement& placement);

// The samples that `rank` loads for its batch number `batch`. Every rank can ask for any rank, with
// the same answer. All ranks have the same number of batches: a rank without samples gets requests
// of weight 0.
using RequestsOf = std::function<std::vector<Request>(int rank, std::uint64_t batch)>;

// Where the ranks of a job read their samples.
struct Source {
  std::shared_ptr<const Cache> cache;
  // Null: this machine has all records of the cache.
  std::shared_ptr<const Spread> spread = nullptr;
};

// Makes a planner for a loader, which fetches records that this machine lacks from other ranks,
// segment by segment (some batches at a time). A thread of its own fetches the next segment while
// the current one is loaded. With a null `spread`, all records come from the cache.
//
// Out         Batches do not depend on the size of segments.
// Collective  All ranks make planners in the same order; fetching begins then. If there are two
//             planners, one must be settled while the other is used.
// seed        as in LoadOptions
// Errors      plan() throws errors of reading and sending, also those of other ranks.
// Source      Dong et al., "DIMD": distributed in-memory data with an all-to-all in segments; here
//             the records of coming batches are exchanged, not the partitions.
std::shared_ptr<Planner> make_planner(std::shared_ptr<const Spread> spread, int rank,
                                      RequestsOf requests_of, std::uint64_t seed);

}  // namespace winnow::pipeline
