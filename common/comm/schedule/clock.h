#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/comm/schedule/transfer.h"

namespace winnow::comm {

// The cost of a message between two ranks, in Hockney's model.
struct LinkCost {
  double latency_s = 0;         // alpha: from the sender's port to the receiver's
  double message_s = 0;         // o: time that each message occupies a port besides its bytes
  double seconds_per_byte = 0;  // beta: of a port, in each direction
};

// Machines whose ports pass one message at a time in each direction.
//
// Between machines  A machine has `cards` ports; rank i of a machine uses port i mod cards.
// Within a machine  Each rank has its own port.
// Additions         One at a time on each rank.
struct NetworkModel {
  LinkCost between{};
  LinkCost inside{};
  double add_seconds_per_byte = 0;  // gamma
  int cards = 1;
  // The longest message that reaches this rate between machines, in bytes; 0: any. With two cables,
  // MPI may send a long message through only one. Used by choose_schedule(), not by the clock.
  std::size_t longest_message = 0;
};

// Simulates the duration of an all-reduce that all ranks start at once, until the last rank
// finishes. Simulates each message as the progress engine handles it: kChainsAtOnce chains in
// order, rounds one after the other, additions after the messages of a round.
//
// In      The transfers of all ranks, from a valid schedule; the machine of each rank.
// Errors  Error: the ranks wait for each other for ever.
double predicted_seconds(std::span<const std::vector<Transfer>> transfers_of_rank,
                         std::span<const int> node_of, std::size_t element_bytes,
                         const NetworkModel& network);

}  // namespace winnow::comm
