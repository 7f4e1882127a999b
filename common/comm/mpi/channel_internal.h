#pragma once

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/comm/mpi/operation_internal.h"
#include "common/comm/mpi/request_pool_internal.h"
#include "common/comm/schedule/link_tags.h"

namespace winnow::comm {

// A running chain (sequence of transfers). Its current round is transfers [begin, end) of the
// operation.
struct Chain {
  Operation* operation = nullptr;
  std::uint64_t number = 0;  // number by LinkTags; 0: the chain is not running
  std::vector<int> tags;     // message tags of transfers [first, last)
  std::size_t first = 0;     // the chain is transfers [first, last)
  std::size_t last = 0;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t waiting = 0;  // number of incomplete requests of the round
  // Messages of the round that were received into separate memory, in list order.
  std::vector<std::vector<std::byte>> arrived;
  std::vector<std::vector<std::byte>>
      encoded;  // messages of the round in their 16-bit form, if they have one

  // The message tag of one of the chain's transfers.
  int tag_of(const Transfer& transfer) const;
};

// The MPI function that sends: MPI_Isend or MPI_Issend.
using SendCall = decltype(&MPI_Isend);

// Runs the operations of one class of work on an MPI communicator of its own: their collectives,
// then the chains of their transfers, round by round.
//
// Order        Chains (see Transfer) start in the order (operation, chain), which is the same on
//              every rank that takes part. A window of them is active on a rank.
// No deadlock  Consider the first unfinished chain in that order. Where it is unfinished, all
//              chains before it are finished, so it is active, and only needs the messages of its
//              own ranks.
// Tags         By LinkTags: each pair of ranks counts the chains that it shares. Messages of a
//              chain match in the order of its rounds.
// Same bits    Additions wait for the whole round and then run in list order, whichever message
//              came first.
// Threads      The engine's only.
class Channel {
 public:
  // At most `window` chains are active. Uses tags 0 .. tag_limit. The communicator, `requests` and
  // `announcements` must outlive the channel.
  Channel(MPI_Comm comm, int tag_limit, std::size_t window, SendCall send, RequestPool& requests,
          Announcements& announcements);
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  MPI_Comm comm() const noexcept { return comm_; }

  // Announces an all-reduce.
  void announce(Operation& operation);

  // Posts the operation's collective. Exceptions of operation.start are thrown.
  void start_collective(Operation& operation);

  // Starts chains of the operation until all have started or the window is full.
  //
  // Out     True if some were started.
  // Throws  SystemError: MPI, as finish().
  bool start_chains(Operation& operation);

  // Continues after a request of this channel has completed: with the next round, or the end.
  //
  // Out     True if the operation is complete.
  // Throws  Exceptions of operation.agreed. SystemError: ranks that announced something else, a
  //         damaged message.
  bool finish(const Posted& posted);

  // seconds spent on combining messages
  std::chrono::nanoseconds adding() const noexcept { return adding_; }

 private:
  bool may_start_chain() const;
  void take_tags(Chain& chain);
  void start_round(Chain& chain);
  void post_receive(Chain& chain, const Transfer& transfer);
  void post_send(Chain& chain, const Transfer& transfer);
  std::byte* take_scratch(std::vector<std::vector<std::byte>>& into, std::size_t bytes);
  void give_back(std::vector<std::vector<std::byte>>& scratch);
  static void make_sums_codable(const Chain& chain);
  static bool finish_collective(Operation& operation);
  void require_announcements(const Chain& chain);
  void check_arrived(const Operation& operation, const Transfer& transfer,
                     std::span<const std::byte> message) const;
  bool finish_round(Chain& chain);

  const MPI_Comm comm_;
  const SendCall send_;
  RequestPool& requests_;
  Announcements& announcements_;
  std::vector<Chain> chains_;                    // a window of them
  std::vector<Chain*> idle_;                     // chains that are not running, kept for reuse
  std::vector<std::vector<std::byte>> scratch_;  // free buffers of messages
  LinkTags tags_;
  std::chrono::nanoseconds adding_{};
};

}  // namespace winnow::comm
