#pragma once

#include <mpi.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "common/comm/communicator.h"
#include "common/comm/mpi/mpi.h"
#include "common/comm/schedule/schedule.h"

namespace winnow::comm {

// Throws SystemError "MPI_Isend (rank 3) failed: ..." unless `rc` is MPI_SUCCESS. `peer` < 0: none.
void check_mpi(int rc, const char* call, int peer = -1);

// The elements of a buffer, and how one range of them enters another (null: data are only moved).
struct Combine {
  MPI_Datatype type;
  std::size_t element_bytes;
  void (*apply)(std::byte* into, const std::byte* from, std::size_t count);
};
Combine sum_of_floats();
Combine of_int32(Reduction reduction);
Combine of_int64(Reduction reduction);
Combine none();  // elements of 4 bytes

// A duplicate of the world for each class of work, so that their messages cannot be mistaken.
struct Channels {
  MPI_Comm gradients;
  MPI_Comm data;
  MPI_Comm control;
};

// Posts a non-blocking collective on the communicator it is given.
using StartCollective = std::function<MPI_Request(MPI_Comm)>;

// Whose memory a collective works on. A collective cannot be cancelled.
enum class CollectiveMemory : std::uint8_t {
  kOwned,     // its StartCollective's: kept until it is complete, or for good
  kBorrowed,  // the caller's: when the engine fails, it is waited for as a receive is
};

// How long the requests under way when the engine fails may take to be over.
struct Patience {
  std::chrono::milliseconds sends{1000};       // read their buffer; then they are left behind
  std::chrono::milliseconds receives{10'000};  // write into theirs, as collectives in borrowed
                                               // memory do; then all ranks are ended
};

// The one thread of a process that calls MPI, from construction to stop(). A state machine over
// non-blocking calls works on all operations at once, so that none waits for another: gradients
// keep moving while a control collective waits for a late rank.
//
// Work             three classes: gradients (all-reduces), data (all-to-alls), control (collectives
//                  of the MPI library)
// Order            chains (see Transfer) of a class start in the order (operation, chain), the same
//                  on every rank that is in them; a window of them is active on a rank
// No deadlock      of all unfinished chains of a class take the first in that order. Where it is
//                  unfinished, all before it are finished, so it is active and needs nothing but
//                  the messages of its own ranks
// Gradients first  while some are under way on this rank and move, no chain of data starts here.
//                  Gradients that do not move wait for a rank that has not begun them, perhaps
//                  since it waits for data from here: then data go on. Chains of data have one
//                  round, so that none is left half done
// Failure          of MPI, or ranks that do not fit together: every operation in flight and every
//                  later one gets it from its future; after that only abort() calls MPI
// Buffers          before a future is ready, nothing writes into those of its operation any more:
//                  receives are cancelled, those that a peer has begun to fill are waited for (see
//                  Patience)
class ProgressEngine {
 public:
  // The communicators outlive the engine. Tags 0 .. tag_limit may be used.
  ProgressEngine(const Channels& channels, int tag_limit, LastWords last_words = {},
                 Patience patience = {});
  ProgressEngine(const ProgressEngine&) = delete;
  ProgressEngine& operator=(const ProgressEngine&) = delete;
  ~ProgressEngine();

  // All three from any thread; every rank submits the same operations of a class in the same order.
  // Buffers stay until the future is ready.

  // Carries out the transfers of an all-reduce on `buffer`; they stay as long as it.
  std::shared_future<void> submit(std::span<std::byte> buffer, const Combine& combine,
                                  std::span<const Transfer> transfers);

  // Carries out the transfers of an all-to-all from `out` to `in`, each chain of one round, after
  // the collective `start` on the communicator of data and then `agreed`, which throws where the
  // ranks do not fit together; both are called on the engine's thread.
  std::shared_future<void> submit(std::span<const std::byte> out, std::span<std::byte> in,
                                  std::vector<Transfer> transfers, StartCollective start,
                                  std::function<void()> agreed);

  // A collective of control, posted on the engine's thread.
  std::shared_future<void> submit(StartCollective start, CollectiveMemory memory);

  // Ends the thread: after finishing what is in flight or, with `discard`, at once.
  void stop(bool discard) noexcept;

  // True once an MPI call has failed or work was discarded; MPI cannot be finalised in order then.
  bool broken() const noexcept;

  // MPI_Abort.
  [[noreturn]] void abort(int exit_code) noexcept;

 private:
  struct Operation;
  // A chain under way. Its current round is transfers [begin, end) of the operation.
  struct Chain {
    Operation* operation = nullptr;
    int tag = 0;
    std::size_t first = 0;  // the chain is transfers [first, last)
    std::size_t last = 0;
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t waiting = 0;                      // requests of the round not yet complete
    std::vector<std::vector<std::byte>> arrived;  // of the round's additions, in list order
  };
  // A class of work.
  struct Work {
    Work(MPI_Comm its_comm, std::size_t window);
    const MPI_Comm comm;
    std::vector<Chain> chains;  // a window of them
    std::vector<Chain*> idle;   // those not under way
    int next_tag = 0;
  };
  struct Operation {
    explicit Operation(Work& its_work) : work(its_work) {}
    Work& work;
    std::promise<void> done;
    StartCollective start;  // where there is one, the transfers come after it
    CollectiveMemory memory = CollectiveMemory::kOwned;
    bool posted = false;   // it is
    bool opening = false;  // it is posted and not complete
    std::function<void()> agreed;
    const std::byte* out = nullptr;  // what sends read
    std::byte* in = nullptr;         // what receives write
    Combine combine{};
    std::vector<Transfer> own;  // the transfers, where the caller does not keep them
    std::span<const Transfer> transfers;
    std::optional<int> tag;    // of all chains; none: each has its own
    std::size_t started = 0;   // transfers of chains that have started
    std::size_t finished = 0;  // transfers of chains that have finished
  };
  // What a request belongs to: a transfer of a chain, or a collective (chain and transfer are
  // null).
  struct Posted {
    Operation* operation;
    Chain* chain;
    const Transfer* transfer;
  };

  // What a request may still do to the memory of a caller.
  enum class Access : std::uint8_t { kNone, kReads, kWrites };

  std::shared_future<void> enqueue(std::unique_ptr<Operation> operation);
  void run() noexcept;
  bool take_submissions();  // false: the thread shall end
  void abort_if_asked();
  void start_what_fits();
  bool gradients_move() const;
  void start_collective(Operation& operation);
  void start_chains(Operation& operation);
  int take_tag(Work& work);
  void finish_collective(Operation& operation);
  void start_round(Chain& chain);
  void finish_round(Chain& chain);
  void complete(Operation& operation);
  void poll();
  static void check_completed(const Posted& posted, const MPI_Status& status);
  void make_room_for_requests(std::size_t count);
  void fail(const std::exception_ptr& why) noexcept;
  static Access access_of(const Posted& posted) noexcept;
  bool settle() noexcept;
  bool test_left_over() noexcept;
  [[noreturn]] void end_all_ranks(const std::exception_ptr& why) noexcept;

  const int tag_limit_;
  const LastWords last_words_;
  const Patience patience_;

  // Shared with the caller.
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::unique_ptr<Operation>> inbox_;
  bool stop_ = false;
  bool discard_ = false;
  bool broken_ = false;
  std::optional<int> abort_code_;

  // The engine's thread only.
  Work gradients_;
  Work data_;
  Work control_;
  std::vector<std::unique_ptr<Operation>> running_;  // in the order of submission
  std::vector<MPI_Request> requests_;
  std::vector<Posted> posted_;  // of each request
  std::vector<int> indices_;    // poll()'s, kept for their memory
  std::vector<MPI_Status> statuses_;
  std::vector<Posted> completed_;
  std::vector<std::vector<std::byte>> scratch_;  // free receive buffers
  int empty_polls_ = 0;                          // since something was last found
  std::chrono::microseconds nap_{};
  std::chrono::microseconds gradients_rest_{};  // slept since gradients last moved
  std::exception_ptr failure_;

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace winnow::comm
