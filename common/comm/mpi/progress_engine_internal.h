#pragma once

#include <mpi.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "common/comm/mpi/announcements_internal.h"
#include "common/comm/mpi/channel_internal.h"
#include "common/comm/mpi/combine_internal.h"
#include "common/comm/mpi/inbox_internal.h"
#include "common/comm/mpi/mpi.h"
#include "common/comm/mpi/operation_internal.h"
#include "common/comm/mpi/request_pool_internal.h"
#include "common/comm/pace_internal.h"
#include "common/comm/schedule/transfer.h"

namespace winnow::comm {

// A duplicate of the world for each class of work, so that their messages cannot be mistaken.
struct Channels {
  MPI_Comm gradients;
  MPI_Comm shares;
  MPI_Comm data;
  MPI_Comm control;
};

struct SumKind {
  bool checksums = false;
  bool share = false;  // submitted by the ranks that have it, not by all
};

// The one thread of a process that calls MPI, from construction to stop(). A state machine over
// non-blocking calls works on all operations at once, so that none waits for another: gradients
// keep moving while a control collective waits for a late rank.
//
// Work             four classes, each with a Channel: gradients (all-reduces that all ranks
// submit),
//                  shares (those of HierarchicalParts, each submitted by its own ranks alone, when
//                  they have come so far), data (all-to-alls), control (collectives of the MPI
//                  library).
//                  Channel says in which order the operations of a class run, and why none of them
//                  is in a deadlock
// Gradients first  and shares: while some are under way on this rank and move, no chain of data
//                  starts here. Gradients that do not move wait for a rank that has not begun them,
//                  perhaps since it waits for data from here: then data go on. Chains of data have
//                  one round, so that none is left half done
// Failure          of MPI, or ranks that do not fit together: every operation in flight and every
//                  later one gets it from its future; after that only abort() calls MPI
// Buffers          before a future is ready, nothing writes into those of its operation any more:
//                  receives are cancelled, those that a peer has begun to fill are waited for (see
//                  RequestPool and Patience)
class ProgressEngine {
 public:
  // The communicators outlive the engine. Tags 0 .. tag_limit may be used; the last is that of
  // Announcements.
  ProgressEngine(const Channels& channels, int tag_limit, RankNames names = {},
                 LastWords last_words = {}, Patience patience = {});
  ProgressEngine(const ProgressEngine&) = delete;
  ProgressEngine& operator=(const ProgressEngine&) = delete;
  ~ProgressEngine();

  // All three from any thread; every rank submits the same operations of a class in the same order.
  // Buffers stay until the future is ready.

  // Carries out the transfers of an all-reduce on its buffer; they stay as long as it.
  std::shared_future<void> submit(const Collective& what, std::span<const Transfer> transfers,
                                  SumKind kind = {});

  // Carries out the transfers of an all-to-all from `out` to `in`, each chain of one round, after
  // the collective `start` on the communicator of data and then `agreed`, which throws where the
  // ranks do not fit together; both are called on the engine's thread.
  std::shared_future<void> submit(std::span<const std::byte> out, std::span<std::byte> in,
                                  std::vector<Transfer> transfers, StartCollective start,
                                  std::function<void()> agreed, bool checksums = false);

  // A collective of control. `agreed` is called on the engine's thread when it is complete.
  std::shared_future<void> submit(StartCollective start, CollectiveMemory memory,
                                  std::function<void()> agreed = {});

  // Ends the thread: after finishing what is in flight or, with `discard`, at once.
  void stop(bool discard) noexcept;

  // What additions of all-reduces have taken so far. From any thread.
  std::chrono::nanoseconds adding() const noexcept { return adding_; }

  // True once an MPI call has failed or work was discarded; MPI cannot be finalised in order then.
  bool broken() const noexcept { return broken_; }

  // MPI_Abort.
  [[noreturn]] void abort(int exit_code) noexcept;

 private:
  std::shared_future<void> enqueue(std::unique_ptr<Operation> operation);
  void run() noexcept;
  bool take_submissions();  // false: the thread shall end
  void start_what_fits();
  bool is_sum(const Channel& channel) const {
    return &channel == &gradients_ || &channel == &shares_;
  }
  void complete_empty();
  bool gradients_move() const;
  std::span<const Posted> test();
  void poll();
  void complete(Operation& operation);
  void fail(const std::exception_ptr& why) noexcept;

  const LastWords last_words_;
  const Patience patience_;

  // Shared with the caller.
  Inbox inbox_;
  std::atomic<bool> broken_ = false;
  std::atomic<std::chrono::nanoseconds> adding_{};

  // The engine's thread only.
  RequestPool requests_;         // before the channels, which post into it
  Announcements announcements_;  // likewise
  Channel gradients_;
  Channel shares_;
  Channel data_;
  Channel control_;
  Operations running_;
  Pace pace_;
  std::chrono::microseconds gradients_rest_{};  // slept since gradients last moved
  std::exception_ptr failure_;

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace winnow::comm
