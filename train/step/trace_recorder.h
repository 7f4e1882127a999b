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

// A time span in a traced step of one rank, in nanoseconds of its steady clock.
struct TraceSpan {
  enum class Row : std::uint8_t {
    kStep,           // from the wait for its batch to the end of its update
    kDataWait,       // waiting for the step's batch
    kThread,         // a task, on the thread that did it
    kUpdate,         // from the first task of the update to the last
    kCommunication,  // a collective of gradients, from start to end
    kDataExchange,   // an exchange of data, from start to end
  };
  Row row = Row::kStep;
  std::int64_t step = 0;  // counted from 1
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::string name{};
  int thread = 0;         // for kThread: from 0, in the order of their first tasks
  int micro_batch = -1;   // index among those of this rank, from 0; -1: none
  std::size_t bytes = 0;  // for a collective

  friend bool operator==(const TraceSpan&, const TraceSpan&) = default;
};

struct TraceRecord {
  std::vector<TraceSpan> spans{};  // ordered by end
  std::vector<int> lanes{};        // lane whose tasks each thread does; kAnyLane: a helper thread
};

// User-facing name of a task, such as "bucket 3 all-reduce, begin". Pure.
std::string name_of(const Task& task);

// Records what a rank does in the traced steps.
// Threads  begin_step() and end_step() from one thread, between tasks; everything else from any
//          thread.
class TraceRecorder {
 public:
  static std::int64_t now_ns() noexcept;

  // Whether a traced step is running. Costs one atomic load.
  bool is_on() const noexcept { return on_.load(std::memory_order_relaxed); }

  // Sets the nodes at which programs turn from forward to backward and back, ascending: nodes
  // before the first are forward, those before the second backward, and so on. By default all are
  // backward.
  void set_turns(std::vector<std::size_t> turns) noexcept { turns_ = std::move(turns); }

  void begin_step(std::int64_t step);
  void end_step();  // does nothing if the step is not traced

  // Runs a task by perform(), in parts if it belongs to both passes. Collectives that it starts are
  // recorded with its bucket or exchange.
  void record(const Task& task, const std::function<void(const Task&)>& perform);

  // The task running on this thread has just finished waiting for the sums of gradients.
  void add_exposed(const ExposedSeconds& seconds);

  // The step waited for its batch.
  void add_wait(std::int64_t begin_ns, std::int64_t end_ns);

  // A collective of gradients, or an exchange of data, starts now. Returns its span without an end.
  TraceSpan begin_collective(TraceSpan::Row row, std::size_t bytes);
  // It has just ended, perhaps after the step in which it started.
  void end_collective(TraceSpan span);

  // Returns everything recorded so far, and clears it.
  TraceRecord take();

 private:
  int thread_here();  // requires mutex_
  void perform_one(const Task& task, std::string_view name,
                   const std::function<void(const Task&)>& perform);
  void add_inside(std::string_view name, std::int64_t begin_ns, std::int64_t end_ns);

  std::atomic<bool> on_ = false;
  std::vector<std::size_t> turns_{0};
  std::mutex mutex_;  // guards everything below
  std::int64_t step_ = 0;
  std::int64_t begin_ns_ = 0;
  std::int64_t update_begin_ns_ = 0;  // 0: not yet
  std::int64_t update_end_ns_ = 0;
  std::string of_{};  // subject of the collectives started now, such as "bucket 3"
  std::map<std::thread::id, int> threads_;
  TraceRecord record_;
};

}  // namespace winnow::train
