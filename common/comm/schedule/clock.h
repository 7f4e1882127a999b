#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/comm/schedule/transfer.h"

namespace winnow::comm {

// The cost of a message between two ranks in Hockney's model: latency plus bytes times seconds per
// byte.
struct LinkCost {
  double latency_s = 0;         // alpha: from the sender's port to the receiver's
  double message_s = 0;         // o: time for which each message occupies a port besides its bytes
  double seconds_per_byte = 0;  // beta: inverse bandwidth of a port, in each direction
  // Processor time for sending a byte and receiving one; 0: unknown. The simulation ignores it.
  double processor_s_per_byte = 0;
};

// A model of the network: machines whose ports pass one message at a time in each direction.
//
// between    Cost of messages between machines. A machine has `cards` ports; rank i of a machine
//            uses port i mod cards.
// inside     Cost of messages within a machine. Each rank has its own port.
// additions  Done one at a time on each rank.
struct NetworkModel {
  LinkCost between{};
  LinkCost inside{};
  double add_seconds_per_byte = 0;  // gamma
  int cards = 1;
  // The longest message in bytes that reaches the bandwidth of `between`; 0: any does. With two
  // cables, MPI may send a long message through only one. Used by choose_schedule() only.
  std::size_t longest_message = 0;
};

// Simulates an all-reduce that all ranks start at once. Returns the seconds until the last rank
// finishes. Messages are handled as by the progress engine: kChainsAtOnce chains in order, rounds
// one after the other, additions after the messages of a round.
//
// In      The transfers of each rank, from a valid schedule; the machine of each rank.
// Errors  Error: the ranks wait for each other for ever.
double predicted_seconds(std::span<const std::vector<Transfer>> transfers_of_rank,
                         std::span<const int> node_of, std::size_t element_bytes,
                         const NetworkModel& network);

}  // namespace winnow::comm
