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

// Runs all-reduces in three phases: reduce-scatter within the machine; sum of each rank's share
// between machines; all-gather within the machine. A thread of its own drives any number of
// all-reduces, whose phases overlap.
//
// No deadlock  Reduce-scatters start in order of submission, and so do all-gathers; neither waits
//              for the other. Transfers between machines wait for nothing here. So the first
//              unfinished phase in that order can always proceed.
// Same bits    Each phase adds in an order independent of timing, and each element is summed by one
//              rank of a machine.
// Failure      If a phase fails, this rank leaves the group, and every running and later operation
//              throws. Transfers between machines are waited for first, because they use the
//              buffer.
// Threads      submit() from any thread, in the same order on every rank of every machine.
class HierarchicalExecutor {
 public:
  // Starts the phase between machines: sums this rank's share over the machines.
  using StartBetween = std::function<std::shared_future<void>(
      std::span<float> share, std::span<const Transfer> between, Wire wire)>;

  HierarchicalExecutor(std::unique_ptr<NodeGroup> group, StartBetween between);
  ~HierarchicalExecutor();  // finishes running operations
  HierarchicalExecutor(const HierarchicalExecutor&) = delete;
  HierarchicalExecutor& operator=(const HierarchicalExecutor&) = delete;

  // Starts an all-reduce of `buffer`. `buffer` and `parts` must live until the future is ready.
  std::shared_future<void> submit(std::span<float> buffer, const HierarchicalParts& parts,
                                  Wire wire);

  // Time spent so far on adding and moving data within the machine. May be called from any thread.
  std::chrono::nanoseconds working() const noexcept { return working_; }

  // True after a phase has failed; other ranks may then be waiting for this one.
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
  bool take_submissions();  // takes new operations; false: the thread shall end
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

  // Members that only the executor's thread uses.
  std::deque<Operation> running_;
  std::uint64_t finished_ = 0;  // number of operations that ended before the first of running_
  std::exception_ptr failure_;

  std::thread thread_;  // declared last, because the thread uses the members above
};

}  // namespace winnow::comm
