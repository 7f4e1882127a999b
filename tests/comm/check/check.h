#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/comm/schedule/schedule.h"

namespace winnow::comm {

// Executes the transfers of all ranks symbolically: each elementary range holds the set of ranks
// whose contribution it carries. Returns "" when every rank ends with every rank's contribution
// exactly once in every element and no message is lost, left over, of the wrong size, or waited for
// in vain; otherwise one sentence on the first thing that is wrong. ranks <= 4096.
std::string check_all_reduce(const std::vector<std::vector<Transfer>>& transfers_of_rank,
                             std::size_t count);

// The same of a reduce-scatter and of an all-gather by the shares of schedule/shares.h: every rank
// ends with every rank's contribution to its own share; or, if it begins with nothing but its own
// share, with those of all.
std::string check_reduce_scatter(const std::vector<std::vector<Transfer>>& transfers_of_rank,
                                 std::size_t count);
std::string check_all_gather(const std::vector<std::vector<Transfer>>& transfers_of_rank,
                             std::size_t count);

// The same of a personal exchange: counts[s][r] is how many elements rank s has for rank r, and
// parts lie in the order of ranks without gaps. Returns "" when every element of every part arrives
// once, at its place. Then the messages of a pair are also sent and received in the same order,
// whatever chain they are of, since lists ascend by chain: one tag is enough.
std::string check_all_to_all(const std::vector<std::vector<Transfer>>& transfers_of_rank,
                             const std::vector<std::vector<std::size_t>>& counts);

// What a schedule costs each rank.
struct Traffic {
  std::size_t sent = 0;      // elements
  std::size_t received = 0;  // elements
  std::size_t added = 0;     // elements
};
std::vector<Traffic> traffic(const std::vector<std::vector<Transfer>>& transfers_of_rank);

}  // namespace winnow::comm
