#pragma once

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "common/comm/mpi/operation_internal.h"
#include "common/comm/schedule/transfer.h"

namespace winnow::comm {

struct Chain;

// What a request belongs to: a transfer of a chain, or a collective (chain and transfer are null).
struct Posted {
  Operation* operation;
  Chain* chain;
  const Transfer* transfer;
};

// How long the requests under way when the engine fails may take to be over.
struct Patience {
  std::chrono::milliseconds sends{1000};       // read their buffer; then they are left behind
  std::chrono::milliseconds receives{10'000};  // write into theirs, as collectives in borrowed
                                               // memory do; then all ranks are ended
};

// All MPI requests under way on this rank, of all channels, tested by one call.
//
// Order    in which they were added; requests found complete at once are told in the order of MPI
// Threads  the engine's only
class RequestPool {
 public:
  bool empty() const noexcept { return requests_.empty(); }

  // Before requests are made: a request that MPI has made is never lost for want of memory to
  // remember it.
  void make_room(std::size_t count);

  // There is room.
  void add(MPI_Request request, const Posted& posted);

  // Tests all requests once, and forgets those that are complete.
  //
  // Out     what was complete, until the next call; requests may be added meanwhile
  // Throws  SystemError: of MPI, or a message of another length than its transfer
  std::span<const Posted> test();

  // After a failure: cancels the receives, waits for those that a peer has begun to fill, for
  // collectives in borrowed memory and, for a shorter time, for the sends.
  //
  // Out            false: memory of a caller may still be written
  // while_waiting  called now and then; may end the process
  bool settle(const Patience& patience, const std::function<void()>& while_waiting) noexcept;

 private:
  // What a request may still do to the memory of a caller.
  enum class Access : std::uint8_t { kNone, kReads, kWrites };

  static Access access_of(const Posted& posted) noexcept;
  void forget_completed();
  void cancel_receives() noexcept;
  Access access_under_way() const noexcept;
  bool test_left_over() noexcept;

  std::vector<MPI_Request> requests_;
  std::vector<Posted> posted_;  // of each request
  std::vector<int> indices_;    // test()'s, kept for their memory
  std::vector<MPI_Status> statuses_;
  std::vector<Posted> completed_;
};

}  // namespace winnow::comm
