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

// The owner of an MPI request: a transfer of a chain, or a collective (chain and transfer are
// nullptr).
struct Posted {
  Operation* operation;
  Chain* chain;
  const Transfer* transfer;
};

// How long to wait for requests in flight to end after the engine failed.
struct Patience {
  // Limit for requests that only read their buffer. Afterwards they are abandoned.
  std::chrono::milliseconds sends{1000};
  // Limit for requests that write into their buffer, as collectives in borrowed memory do.
  // Afterwards all ranks are ended.
  std::chrono::milliseconds receives{10'000};
};

// All MPI requests in flight on this rank, of all channels, tested by one call.
//
// Order    As added; requests found complete together are reported in MPI's order.
// Threads  The engine's only.
class RequestPool {
 public:
  bool empty() const noexcept { return requests_.empty(); }

  // Makes room for further requests. Call it before starting them, so that none is lost because
  // there is no memory to record it.
  void make_room(std::size_t count);

  // Adds a request. There must be room for it.
  void add(MPI_Request request, const Posted& posted);

  // Tests all requests once, and removes those that are complete.
  //
  // Out     The completed ones, valid until the next call; requests may be added meanwhile.
  // Throws  SystemError: MPI, or a message whose length differs from its transfer.
  std::span<const Posted> test();

  // After a failure: cancels receives, then waits for those that a peer has begun to fill, for
  // collectives in borrowed memory and, for a shorter time, for sends.
  //
  // Out            False: memory of a caller may still be written.
  // while_waiting  Called now and then; may end the process.
  bool settle(const Patience& patience, const std::function<void()>& while_waiting) noexcept;

 private:
  // How a request may still use a caller's memory.
  enum class Access : std::uint8_t { kNone, kReads, kWrites };

  static Access access_of(const Posted& posted) noexcept;
  void forget_completed();
  void cancel_receives() noexcept;
  Access access_under_way() const noexcept;
  bool test_left_over() noexcept;

  std::vector<MPI_Request> requests_;
  std::vector<Posted> posted_;  // for each request
  std::vector<int> indices_;    // temporary memory of test(), kept for reuse
  std::vector<MPI_Status> statuses_;
  std::vector<Posted> completed_;
};

}  // namespace winnow::comm
