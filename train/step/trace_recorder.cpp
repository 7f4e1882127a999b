#include "train/step/trace_recorder.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace winnow::train {
namespace {

using Kind = Task::Kind;

std::string bucket_of(const Task& task) { return "bucket " + std::to_string(task.bucket); }

// Name of what its collectives are for; empty if it starts none.
std::string subject_of(const Task& task) {
  if (task.kind == Kind::kReduce) return bucket_of(task);
  if (task.kind == Kind::kSend) {
    return "micro-batch " + std::to_string(task.micro_batch) + " to rank " +
           std::to_string(task.peer);
  }
  if (task.kind == Kind::kExchange) return "exchange " + std::to_string(task.exchange);
  return {};
}

}  // namespace

std::string name_of(const Task& task) {
  switch (task.kind) {
    case Kind::kLoadParameters:
      return "load parameters";
    case Kind::kReceive:
      return "wait for micro-batch " + std::to_string(task.micro_batch) + " from rank " +
             std::to_string(task.peer);
    case Kind::kBind:
      return "bind micro-batch";
    case Kind::kCompute:
      return "backward";
    case Kind::kSend:
      return subject_of(task) + ", begin";
    case Kind::kExpect:
      return "receives of the next step, begin";
    case Kind::kExchange:
      return subject_of(task) + " among micro-batches";
    case Kind::kAwait:
      return bucket_of(task) + " await";
    case Kind::kAdd:
      return bucket_of(task) + " add";
    case Kind::kAddLanes:
      return bucket_of(task) + " add lanes";
    case Kind::kReduce:
      return bucket_of(task) + " all-reduce, begin";
    case Kind::kFinish:
      return "wait for all-reduces";
    case Kind::kRead:
      return "read sums";
    case Kind::kBeginUpdate:
      return "begin update";
    case Kind::kUpdate:
      return bucket_of(task) + " update";
  }
  return {};
}

std::int64_t TraceRecorder::now_ns() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void TraceRecorder::begin_step(std::int64_t step) {
  const std::lock_guard lock(mutex_);
  step_ = step;
  update_begin_ns_ = 0;
  on_ = true;
  begin_ns_ = now_ns();
}

void TraceRecorder::end_step() {
  if (!is_on()) return;
  const std::int64_t now = now_ns();
  const std::lock_guard lock(mutex_);
  on_ = false;
  if (update_begin_ns_ > 0) {
    record_.spans.push_back({.row = TraceSpan::Row::kUpdate,
                             .step = step_,
                             .begin_ns = update_begin_ns_,
                             .end_ns = std::max(update_begin_ns_, update_end_ns_),
                             .name = "update"});
  }
  record_.spans.push_back({.row = TraceSpan::Row::kStep,
                           .step = step_,
                           .begin_ns = begin_ns_,
                           .end_ns = now,
                           .name = "step " + std::to_string(step_)});
}

int TraceRecorder::thread_here() {
  const auto [at, is_new] =
      threads_.try_emplace(std::this_thread::get_id(), static_cast<int>(threads_.size()));
  if (is_new) record_.lanes.push_back(kAnyLane);
  return at->second;
}

void TraceRecorder::record(const Task& task, const std::function<void(const Task&)>& perform) {
  {
    const std::lock_guard lock(mutex_);
    if (std::string subject = subject_of(task); !subject.empty()) of_ = std::move(subject);
    if (task.kind == Kind::kBeginUpdate)
      update_begin_ns_ = now_ns();  // in a repeated step: the last one
  }
  if (task.kind != Kind::kCompute) return perform_one(task, name_of(task), perform);
  Task part = task;
  const auto perform_to = [&](std::size_t end, std::string_view name) {
    part.last_node = std::min(task.last_node, end);
    if (part.first_node >= part.last_node) return;
    perform_one(part, name, perform);
    part.first_node = part.last_node;
  };
  for (std::size_t i = 0; i < turns_.size(); ++i) {
    perform_to(turns_[i], i % 2 == 0 ? "forward" : "backward");
  }
  perform_to(task.last_node, turns_.size() % 2 == 0 ? "forward" : "backward");
}

void TraceRecorder::perform_one(const Task& task, std::string_view name,
                                const std::function<void(const Task&)>& perform) {
  const std::int64_t begin_ns = now_ns();
  perform(task);
  const std::int64_t now = now_ns();
  const std::lock_guard lock(mutex_);
  const int thread = thread_here();
  if (!task.anywhere) record_.lanes[static_cast<std::size_t>(thread)] = task.lane;
  if (task.kind == Kind::kUpdate) update_end_ns_ = std::max(update_end_ns_, now);
  record_.spans.push_back({.row = TraceSpan::Row::kThread,
                           .step = step_,
                           .begin_ns = begin_ns,
                           .end_ns = now,
                           .name = std::string(name),
                           .thread = thread,
                           .micro_batch = task.micro_batch});
}

void TraceRecorder::add_inside(std::string_view name, std::int64_t begin_ns, std::int64_t end_ns) {
  const std::lock_guard lock(mutex_);
  record_.spans.push_back({.row = TraceSpan::Row::kThread,
                           .step = step_,
                           .begin_ns = begin_ns,
                           .end_ns = end_ns,
                           .name = std::string(name),
                           .thread = thread_here()});
}

void TraceRecorder::add_exposed(const ExposedSeconds& seconds) {
  const auto ns = [](double s) { return static_cast<std::int64_t>(std::llround(s * 1e9)); };
  const std::int64_t end = now_ns();
  const std::int64_t begin = end - ns(seconds.total());
  const std::int64_t all_came = std::min(begin + ns(seconds.late), end);
  add_inside("wait for slower ranks", begin, all_came);
  add_inside("wait for sums", all_came, end);
}

void TraceRecorder::add_wait(std::int64_t begin_ns, std::int64_t end_ns) {
  const std::lock_guard lock(mutex_);
  record_.spans.push_back({.row = TraceSpan::Row::kDataWait,
                           .step = step_,
                           .begin_ns = begin_ns,
                           .end_ns = end_ns,
                           .name = "wait for batch"});
}

TraceSpan TraceRecorder::begin_collective(TraceSpan::Row row, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const bool of_data = row == TraceSpan::Row::kDataExchange;
  return {.row = row,
          .step = step_,
          .begin_ns = now_ns(),
          .name = of_data ? "data exchange" : of_ + " all-reduce",
          .bytes = bytes};
}

void TraceRecorder::end_collective(TraceSpan span) {
  span.end_ns = now_ns();
  const std::lock_guard lock(mutex_);
  record_.spans.push_back(std::move(span));
}

TraceRecord TraceRecorder::take() {
  const std::lock_guard lock(mutex_);
  threads_.clear();
  return std::exchange(record_, {});
}

}  // namespace winnow::train
