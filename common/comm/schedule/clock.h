#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/comm/schedule/transfer.h"

namespace winnow::comm {

// What a message between two ranks costs, in the terms of Hockney's model.
struct LinkCost {
  double latency_s = 0;         // alpha: from the sender's port to the receiver's
  double message_s = 0;         // o: that each message keeps a port busy besides its bytes
  double seconds_per_byte = 0;  // beta: of a port, each way
};

// Machines whose ports pass one message at a time each way.
//
// Between machines  a machine has `cards` ports; rank i of a machine uses port i mod cards
// Inside a machine  each rank has a port of its own
// Additions         one at a time on each rank
struct NetworkModel {
  LinkCost between{};
  LinkCost inside{};
  double add_seconds_per_byte = 0;  // gamma
  int cards = 1;
  // The longest message that has this rate between machines, in bytes; 0: any. Of two cables MPI
  // may send a long message through one alone. The clock does not look at it, choose_schedule()
  // does.
  std::size_t longest_message = 0;
};

// How long the all-reduce takes if all ranks begin at once: until the last rank has done. An event
// for each message, as the progress engine runs them: kChainsAtOnce chains in order, rounds one
// after the other, additions after the messages of a round.
//
// In      the transfers of all ranks, of a schedule that is sound; the machine of each rank
// Throws  Error: the ranks wait for each other for ever
double predicted_seconds(std::span<const std::vector<Transfer>> transfers_of_rank,
                         std::span<const int> node_of, std::size_t element_bytes,
                         const NetworkModel& network);

}  // namespace winnow::comm
