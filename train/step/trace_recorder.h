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

// Something that took time in a traced step of one rank. Nanoseconds of its steady clock.
struct TraceSpan {
  enum class Row : std::uint8_t {
    kStep,           // from the wait for its batch to the end of its update
    kDataWait,       // the step waits for its batch
    kThread,         // a task, of the thread that did it
    kUpdate,         // from the first task of the update to the last
    kCommunication,  // a collective of gradients, from its beginning to its end
    kDataExchange,   // an exchange of data, likewise
  };
  Row row = Row::kStep;
  std::int64_t step = 0;  // counted from 1
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::string name{};
  int thread = 0;         // of kThread: from 0, in the order of their first tasks
  int micro_batch = -1;   // of this rank, from 0; -1: of none
  std::size_t bytes = 0;  // of a collective

  friend bool operator==(const TraceSpan&, const TraceSpan&) = default;
};

struct TraceRecord {
  std::vector<TraceSpan> spans{};  // in the order of their ends
  std::vector<int> lanes{};        // whose own tasks each thread does; kAnyLane: a helper
};

// What people call a task of a step: "bucket 3 all-reduce, begin". Pure.
std::string name_of(const Task& task);

// Writes down what a rank does in the steps that it is asked to.
// Threads  begin_step() and end_step() from one, between tasks; the rest from any
class TraceRecorder {
 public:
  static std::int64_t now_ns() noexcept;

  // Whether a traced step is under way. One load.
  bool is_on() const noexcept { return on_.load(std::memory_order_relaxed); }

  // Where programs turn from the forward pass to the backward pass and back, ascending: nodes
  // before the first are forward, those before the second backward, and so on. At first all are
  // backward.
  void set_turns(std::vector<std::size_t> turns) noexcept { turns_ = std::move(turns); }

  void begin_step(std::int64_t step);
  void end_step();  // of a step that is not traced, nothing

  // Does a task by perform(), in parts where it is of both passes. Collectives that it begins are
  // of its bucket or exchange.
  void record(const Task& task, const std::function<void(const Task&)>& perform);

  // A task under way on this thread has waited until now for the sums of gradients.
  void add_exposed(const ExposedSeconds& seconds);

  // The step waited for its batch.
  void add_wait(std::int64_t begin_ns, std::int64_t end_ns);

  // A collective of gradients, or an exchange of data, begins now: its span, without an end.
  TraceSpan begin_collective(TraceSpan::Row row, std::size_t bytes);
  // It is over now. The step that it began in may be over, too.
  void end_collective(TraceSpan span);

  // All so far, which is forgotten.
  TraceRecord take();

 private:
  int thread_here();  // with mutex_
  void perform_one(const Task& task, std::string_view name,
                   const std::function<void(const Task&)>& perform);
  void add_inside(std::string_view name, std::int64_t begin_ns, std::int64_t end_ns);

  std::atomic<bool> on_ = false;
  std::vector<std::size_t> turns_{0};
  std::mutex mutex_;  // of all below
  std::int64_t step_ = 0;
  std::int64_t begin_ns_ = 0;
  std::int64_t update_begin_ns_ = 0;  // 0: not yet
  std::int64_t update_end_ns_ = 0;
  std::string of_{};  // "bucket 3": whose collectives begin
  std::map<std::thread::id, int> threads_;
  TraceRecord record_;
};

}  // namespace winnow::train
