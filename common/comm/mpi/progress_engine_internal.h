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
#include "common/comm/schedule/schedule.h"

namespace winnow::comm {

// Throws SystemError "MPI_Isend (rank 3) failed: ..." unless `rc` is MPI_SUCCESS. `peer` < 0: none.
void check_mpi(int rc, const char* call, int peer = -1);

// What the elements of a buffer are, 4 bytes each, and how one range of them enters another.
struct Combine {
  MPI_Datatype type;
  void (*apply)(std::byte* into, const std::byte* from, std::size_t count);
};
inline constexpr std::size_t kElementBytes = 4;
Combine sum_of_floats();
Combine of_integers(Reduction reduction);

// The one thread of a process that calls MPI, from construction to stop(). It works on all
// operations given to it at once, as a state machine over non-blocking calls, so that none of them
// waits for another: gradients keep moving while a control collective waits for a late rank.
//
// Chains (see Step) start in the order (operation, chain), the same on every rank, and at most
// kWindow of them are active on a rank. That cannot block: of all unfinished chains take the first
// in that order; on every rank where it is unfinished all before it are finished, so it is among
// the active ones, and needs nothing but the messages of its own ranks.
//
// An MPI error is the end: every operation in flight and every later one gets it from its future,
// and MPI is not called any more except by abort(). Buffers are not touched after that.
class ProgressEngine {
 public:
  // `gradients` carries the messages of schedules, `control` the collectives. Both outlive the
  // engine. Tags 0 .. tag_limit may be used.
  ProgressEngine(MPI_Comm gradients, MPI_Comm control, int tag_limit);
  ProgressEngine(const ProgressEngine&) = delete;
  ProgressEngine& operator=(const ProgressEngine&) = delete;
  ~ProgressEngine();

  // Carries out `steps` on `buffer`, which must stay until the future is ready. Every rank submits
  // the same operations in the same order.
  std::shared_future<void> submit(std::span<std::byte> buffer, const Combine& combine,
                                  std::vector<Step> steps);

  // `start` posts a non-blocking collective on the communicator it is given, on the engine's
  // thread.
  std::shared_future<void> submit(std::function<MPI_Request(MPI_Comm control)> start);

  // Ends the thread: after finishing what is in flight or, with `discard`, at once.
  void stop(bool discard) noexcept;

  // True once an MPI call has failed or work was discarded; MPI cannot be finalised in order then.
  bool broken() const noexcept;

  // MPI_Abort.
  [[noreturn]] void abort(int exit_code) noexcept;

 private:
  struct Operation {
    std::promise<void> done;
    std::function<MPI_Request(MPI_Comm)> start;  // of a collective; empty for steps
    std::span<std::byte> buffer;
    Combine combine{};
    std::vector<Step> steps;
    std::size_t started = 0;   // steps of chains that have started
    std::size_t finished = 0;  // steps of chains that have finished
  };
  // A chain under way. Its current round is steps [begin, end) of the operation.
  struct Chain {
    Operation* operation = nullptr;
    int tag = 0;
    std::size_t first = 0;  // the chain is steps [first, last)
    std::size_t last = 0;
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t waiting = 0;                      // requests of the round not yet complete
    std::vector<std::vector<std::byte>> arrived;  // of the round's additions, in list order
  };
  // What a request belongs to: a step of a chain, or a collective (chain and step are null).
  struct Posted {
    Operation* operation;
    Chain* chain;
    const Step* step;
  };

  std::shared_future<void> enqueue(std::unique_ptr<Operation> operation);
  void run() noexcept;
  bool take_submissions();  // false: the thread shall end
  void start_what_fits();
  void start_round(Chain& chain);
  void finish_round(Chain& chain);
  void complete(Operation& operation);
  void poll();
  void fail(const std::exception_ptr& why) noexcept;

  const MPI_Comm gradients_;
  const MPI_Comm control_;
  const int tag_limit_;

  // Shared with the caller.
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::unique_ptr<Operation>> inbox_;
  bool stop_ = false;
  bool discard_ = false;
  bool broken_ = false;
  std::optional<int> abort_code_;

  // The engine's thread only.
  std::vector<std::unique_ptr<Operation>> running_;  // in the order of submission
  std::vector<MPI_Request> requests_;
  std::vector<Posted> posted_;  // of each request
  std::vector<int> indices_;    // poll()'s, kept for their memory
  std::vector<MPI_Status> statuses_;
  std::vector<Posted> completed_;
  std::vector<Chain> chains_;                    // kWindow of them
  std::vector<Chain*> idle_chains_;              // those not under way
  std::vector<std::vector<std::byte>> scratch_;  // free receive buffers
  int next_tag_ = 0;
  int empty_polls_ = 0;  // since something was last found
  std::chrono::microseconds nap_{};
  std::exception_ptr failure_;

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace winnow::comm
