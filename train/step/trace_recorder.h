#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "train/plan/step_tasks.h"
#include "train/step/exposed.h"

namespace winnow::train {

// A time span in a traced step of one rank, in nanoseconds of the rank's steady clock.
struct TraceSpan {
  enum class Row : std::uint8_t {
    kStep,           // whole step, from waiting for its batch to the end of its update
    kDataWait,       // waiting for the step's batch
    kThread,         // a task, on the thread that executed it
    kUpdate,         // update of the weights, from its first task to its last
    kCommunication,  // a collective of gradients, from start to end
    kDataExchange,   // an exchange of training data between machines, from start to end
  };
  Row row = Row::kStep;
  std::int64_t step = 0;  // number of the step, from 1
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::string name{};
  // For kThread: number of the thread, from 0, in the order of the threads' first tasks.
  int thread = 0;
  int micro_batch = -1;   // index of the micro-batch among those of this rank, from 0; -1: none
  std::size_t bytes = 0;  // bytes of a collective or an exchange

  friend bool operator==(const TraceSpan&, const TraceSpan&) = default;
};

struct TraceRecord {
  std::vector<TraceSpan> spans{};  // time spans, ordered by their end
  // For each thread, the lane (program replica) whose tasks it executes; kAnyLane: a helper thread.
  std::vector<int> lanes{};
};

// Returns the user-facing name of a task, such as "bucket 3 all-reduce, begin". Pure.
std::string name_of(const Task& task);

// Records what a rank does in the traced steps.
// Threads  begin_step() and end_step() are called by one thread, between tasks; everything else by
//          any thread.
class TraceRecorder {
 public:
  static std::int64_t now_ns() noexcept;

  // Whether a traced step is running. Costs one atomic load.
  bool is_on() const noexcept { return on_.load(std::memory_order_relaxed); }

  // Sets the node indices, ascending, at which programs alternate between forward and backward
  // pass: nodes before the first are forward, nodes before the second backward, and so on. By
  // default all nodes are backward.
  void set_turns(std::vector<std::size_t> turns) noexcept { turns_ = std::move(turns); }

  void begin_step(std::int64_t step);
  void end_step();  // does nothing if the step is not traced

  // Calls perform(task) and records its time. A task with forward and backward nodes is performed
  // in parts. Collectives that it starts are recorded with the task's bucket or exchange.
  void record(const Task& task, const std::function<void(const Task&)>& perform);

  // Records that the task on this thread has just finished waiting for the sums of gradients.
  void add_exposed(const ExposedSeconds& seconds);

  // Records that the step waited for its batch.
  void add_wait(std::int64_t begin_ns, std::int64_t end_ns);

  // Records that a collective of gradients, or an exchange of data, starts now. Returns its span,
  // without an end.
  TraceSpan begin_collective(TraceSpan::Row row, std::size_t bytes);
  // Records that the collective of `span` has just ended, perhaps after the step in which it
  // started.
  void end_collective(TraceSpan span);

  // Returns all records so far, and clears them.
  TraceRecord take();

 private:
  int thread_here();  // returns the number of the calling thread; requires mutex_
  void perform_one(const Task& task, std::string_view name,
                   const std::function<void(const Task&)>& perform);
  void add_inside(std::string_view name, std::int64_t begin_ns, std::int64_t end_ns);

  std::atomic<bool> on_ = false;
  std::vector<std::size_t> turns_{0};
  std::mutex mutex_;  // guards all members below
  std::int64_t step_ = 0;
  std::int64_t begin_ns_ = 0;
  std::int64_t update_begin_ns_ = 0;  // start of the update; 0: it has not started
  std::int64_t update_end_ns_ = 0;
  std::string of_{};  // subject of collectives that start now, such as "bucket 3"
  std::map<std::thread::id, int> threads_;
  TraceRecord record_;
};

}  // namespace winnow::train
