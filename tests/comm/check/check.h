#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "common/comm/schedule/schedule.h"

namespace winnow::comm {

// Executes the transfers of all ranks symbolically: each elementary range holds the set of ranks
// whose contribution it carries. ranks <= 4096.
// Returns  "" if every rank ends with every rank's contribution exactly once in every element, and
//          no message is lost, left over, of the wrong size, or waited for in vain. Otherwise a
//          sentence on the first fault.
std::string check_all_reduce(const std::vector<std::vector<Transfer>>& transfers_of_rank,
                             std::size_t count);

// The same of an all-reduce of some ranks: each of `among` ends with the contributions of these,
// and no other rank has transfers.
std::string check_all_reduce_among(const std::vector<std::vector<Transfer>>& transfers_of_rank,
                                   std::span<const int> among, std::size_t count);

// The same of a reduce-scatter and of an all-gather by the shares of schedule/shares.h: every rank
// ends with every rank's contribution to its own share; or, if it begins with nothing but its own
// share, with those of all.
std::string check_reduce_scatter(const std::vector<std::vector<Transfer>>& transfers_of_rank,
                                 std::size_t count);
std::string check_all_gather(const std::vector<std::vector<Transfer>>& transfers_of_rank,
                             std::size_t count);

// The same of a personal exchange: counts[s][r] is how many elements rank s has for rank r, and
// parts lie in the order of ranks without gaps. Returns "" when every element of every part arrives
// once, at its place.
std::string check_all_to_all(const std::vector<std::vector<Transfer>>& transfers_of_rank,
                             const std::vector<std::vector<std::size_t>>& counts);

// A tag for each transfer of each rank in each of several operations: [operation][rank][transfer].
using Tags = std::vector<std::vector<std::vector<int>>>;

// Whether (sender, receiver, tag) tells apart the messages of all operations, which every rank
// begins in this order. Returns "" when no order in which ranks get on with their chains can mix
// two messages up: both ends of a link give the messages of a chain one tag, and no other chain has
// it there. Those of one chain match by the order of its rounds. Otherwise one sentence.
std::string check_tags(const std::vector<std::vector<std::vector<Transfer>>>& operations,
                       const Tags& tags);

// Cost of a schedule for a rank.
struct Traffic {
  std::size_t sent = 0;      // in elements
  std::size_t received = 0;  // in elements
  std::size_t added = 0;     // in elements
};
std::vector<Traffic> traffic(const std::vector<std::vector<Transfer>>& transfers_of_rank);

}  // namespace winnow::comm
