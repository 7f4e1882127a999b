#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "common/comm/schedule/schedule.h"

namespace winnow::comm {

// Executes the transfers of all ranks of an all-reduce symbolically. Each elementary range holds
// the set of ranks whose contribution it carries.
// Returns    "" if all is well; otherwise one sentence on the first fault.
// Well       Every rank ends with every rank's contribution exactly once in every element. No
//            message is lost, left over, of the wrong size, or waited for in vain.
// Limits     ranks <= 4096.
std::string check_all_reduce(const std::vector<std::vector<Transfer>>& transfers_of_rank,
                             std::size_t count);

// The same for a reduce-scatter and an all-gather, with the shares of schedule/shares.h.
// Reduce-scatter    Every rank ends with every rank's contribution to its own share.
// All-gather        Every rank begins with its own share only, and ends with all shares.
std::string check_reduce_scatter(const std::vector<std::vector<Transfer>>& transfers_of_rank,
                                 std::size_t count);
std::string check_all_gather(const std::vector<std::vector<Transfer>>& transfers_of_rank,
                             std::size_t count);

// The same for an all-to-all. counts[s][r] is the number of elements from rank s for rank r. Parts
// lie in the order of ranks without gaps.
// Well    Every element of every part arrives once, in its place.
// The messages of a pair are then also sent and received in the same order, whatever their chains,
// because lists ascend by chain: one tag is enough.
std::string check_all_to_all(const std::vector<std::vector<Transfer>>& transfers_of_rank,
                             const std::vector<std::vector<std::size_t>>& counts);

// The cost of a schedule for one rank.
struct Traffic {
  std::size_t sent = 0;      // in elements
  std::size_t received = 0;  // in elements
  std::size_t added = 0;     // in elements
};
std::vector<Traffic> traffic(const std::vector<std::vector<Transfer>>& transfers_of_rank);

}  // namespace winnow::comm
