#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <span>
#include <thread>

#include "common/comm/communicator.h"
#include "common/comm/node/node_group.h"
#include "common/comm/schedule/hierarchical.h"

namespace winnow::comm {

// All-reduces in three phases: reduce-scatter inside the machine, each rank's share between the
// machines, all-gather inside the machine. A thread of its own drives them; any number are in
// flight, and each phase of one overlaps the others of others.
//
// No deadlock  reduce-scatters begin in the order of submission, all-gathers too, and neither waits
//              for the other; what goes between machines waits for nothing here. So of all
//              unfinished phases the first in that order always goes on
// Same bits    each phase adds in an order that timing does not change, and each element's sum is
//              made by one rank of a machine
// Failure      of a phase: this rank leaves the group, every operation in flight and every later
//              one throws. Those that are between machines are waited for first: they have the
//              buffer
// Threads      submit() from any, in the same order on every rank of every machine
class HierarchicalExecutor {
 public:
  // Sums this rank's share over the machines.
  using StartBetween = std::function<std::shared_future<void>(
      std::span<float> share, std::span<const Transfer> between, Wire wire)>;

  HierarchicalExecutor(std::unique_ptr<NodeGroup> group, StartBetween between);
  ~HierarchicalExecutor();  // finishes what is in flight
  HierarchicalExecutor(const HierarchicalExecutor&) = delete;
  HierarchicalExecutor& operator=(const HierarchicalExecutor&) = delete;

  // `buffer` and `parts` stay until the future is ready.
  std::shared_future<void> submit(std::span<float> buffer, const HierarchicalParts& parts,
                                  Wire wire);

  // What adding and moving data inside the machine has taken so far. From any thread.
  std::chrono::nanoseconds working() const noexcept { return working_; }

  // True once a phase has failed; other ranks may wait for this one then.
  bool broken() const noexcept { return broken_; }

 private:
  enum class Phase : std::uint8_t { kReduceScatter, kBetween, kSummed, kAllGather };
  struct Operation {
    std::span<float> buffer;
    const HierarchicalParts* parts;
    Wire wire;
    Phase phase = Phase::kReduceScatter;
    std::shared_future<void> between{};
    std::promise<void> done{};
  };

  void run() noexcept;
  bool take_submissions();  // false: the thread shall end
  bool step();
  void move_on(Operation& operation, std::uint64_t number, const NodeProgress& progress);
  void fail() noexcept;

  const std::unique_ptr<NodeGroup> group_;
  const StartBetween between_;

  // Shared with the callers.
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Operation> submitted_;
  bool stop_ = false;
  std::atomic<bool> broken_ = false;
  std::atomic<std::chrono::nanoseconds> working_{};

  // The thread's only.
  std::deque<Operation> running_;
  std::uint64_t finished_ = 0;  // operations before the first of running_
  std::exception_ptr failure_;

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace winnow::comm
