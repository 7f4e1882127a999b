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

// Duplicates of MPI_COMM_WORLD, one for each class of work, so that messages cannot be confused.
struct Channels {
  MPI_Comm gradients;
  MPI_Comm shares;
  MPI_Comm data;
  MPI_Comm control;
};

struct SumKind {
  bool checksums = false;
  bool share = false;  // submitted by the ranks of a share only, not by all
};

// Runs the only thread of a process that calls MPI, from construction to stop(). A state machine
// over non-blocking calls advances all operations at once, so that none waits for another:
// gradients keep moving while a control collective waits for a late rank.
//
// Work             Four classes, each with a Channel, which says in which order its operations run,
//                  and why none of them is in a deadlock.
// - gradients: all-reduces that all ranks submit
// - shares: those of HierarchicalParts, each submitted by its own ranks alone, when they have come
//   so far
// - data: all-to-alls
// - control: collectives of the MPI library
// Gradients first  While gradients or shares are running on this rank and move, no chain of data
//                  starts here. Gradients that do not move wait for a rank that has not begun them,
//                  perhaps because it waits for data from here: then data continue. Chains of data
//                  have one round, so none stays half done.
// Failure          After a failure of MPI, or if ranks do not fit together, every running and every
//                  later operation gets it through its future. Afterwards only abort() calls MPI.
// Buffers          When a future is ready, nothing writes into its operation's buffers any more:
//                  receives are cancelled, and those that a peer has begun to fill are awaited (see
//                  RequestPool and Patience).
class ProgressEngine {
 public:
  // The communicators must outlive the engine. Uses tags 0 .. tag_limit; the last is for
  // Announcements.
  ProgressEngine(const Channels& channels, int tag_limit, RankNames names = {},
                 LastWords last_words = {}, Patience patience = {});
  ProgressEngine(const ProgressEngine&) = delete;
  ProgressEngine& operator=(const ProgressEngine&) = delete;
  ~ProgressEngine();

  // Submit an operation. May be called from any thread. Every rank submits the same operations of a
  // class in the same order. Buffers must stay until the future is ready.

  // Executes the transfers of an all-reduce on its buffer. Both stay until the future is ready.
  std::shared_future<void> submit(const Collective& what, std::span<const Transfer> transfers,
                                  SumKind kind = {});

  // Executes the transfers of an all-to-all from `out` to `in`; each chain has one round. Before,
  // it runs the collective `start` on the communicator of data and then `agreed`, which throws if
  // the ranks do not fit together. Both are called on the engine's thread.
  std::shared_future<void> submit(std::span<const std::byte> out, std::span<std::byte> in,
                                  std::vector<Transfer> transfers, StartCollective start,
                                  std::function<void()> agreed, bool checksums = false);

  // Executes a control collective. `agreed` is called on the engine's thread when it is complete.
  std::shared_future<void> submit(StartCollective start, CollectiveMemory memory,
                                  std::function<void()> agreed = {});

  // Ends the thread: at once with `discard`, else after finishing what is running.
  void stop(bool discard) noexcept;

  // Time spent so far on additions of all-reduces. Thread-safe.
  std::chrono::nanoseconds adding() const noexcept { return adding_; }

  // True once an MPI call has failed or operations were discarded. Then MPI cannot be finalised
  // properly.
  bool broken() const noexcept { return broken_; }

  // MPI_Abort.
  [[noreturn]] void abort(int exit_code) noexcept;

 private:
  std::shared_future<void> enqueue(std::unique_ptr<Operation> operation);
  void run() noexcept;
  bool take_submissions();  // takes new operations; false: the thread must end
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

  // Shared with callers.
  Inbox inbox_;
  std::atomic<bool> broken_ = false;
  std::atomic<std::chrono::nanoseconds> adding_{};

  // Members that only the engine's thread uses.
  RequestPool requests_;         // declared before the channels, which post into it
  Announcements announcements_;  // before the channels, too
  Channel gradients_;
  Channel shares_;
  Channel data_;
  Channel control_;
  Operations running_;
  Pace pace_;
  std::chrono::microseconds gradients_rest_{};  // time slept since gradients last moved
  std::exception_ptr failure_;

  std::thread thread_;  // declared last, because the thread uses all members above
};

}  // namespace winnow::comm
