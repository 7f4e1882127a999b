#include "common/comm/hierarchical_executor.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "common/comm/pace_internal.h"
#include "common/thread_name.h"

namespace winnow::comm {

namespace {

bool is_ready(const std::shared_future<void>& future) {
  return future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

}  // namespace

HierarchicalExecutor::HierarchicalExecutor(std::unique_ptr<NodeGroup> group, StartBetween between)
    : group_(std::move(group)), between_(std::move(between)) {
  thread_ = std::thread([this] { run(); });
}

HierarchicalExecutor::~HierarchicalExecutor() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

std::shared_future<void> HierarchicalExecutor::submit(std::span<float> buffer,
                                                      const HierarchicalParts& parts, Wire wire) {
  Operation operation{.buffer = buffer, .parts = &parts, .wire = wire};
  std::shared_future<void> done = operation.done.get_future().share();
  {
    const std::lock_guard lock(mutex_);
    submitted_.push_back(std::move(operation));
  }
  wake_.notify_one();
  return done;
}

void HierarchicalExecutor::run() noexcept {
  name_thread("levels");
  nap_precisely();
  Pace pace;
  for (;;) {
    try {
      if (!take_submissions()) return;
      if (failure_) std::rethrow_exception(failure_);
      if (step()) {
        pace.found();
      } else {
        pace.rest();
      }
    } catch (...) {
      failure_ = std::current_exception();
      fail();
    }
  }
}

bool HierarchicalExecutor::take_submissions() {
  std::unique_lock lock(mutex_);
  if (running_.empty()) wake_.wait(lock, [this] { return stop_ || !submitted_.empty(); });
  const std::size_t before = running_.size();
  std::ranges::move(submitted_, std::back_inserter(running_));
  submitted_.clear();
  lock.unlock();
  if (!failure_) {
    for (std::size_t i = before; i < running_.size(); ++i) {
      group_->start_reduce_scatter(running_[i].buffer, running_[i].parts->shares);
    }
  }
  return !running_.empty();
}

// Returns whether something moved.
bool HierarchicalExecutor::step() {
  const auto begin = std::chrono::steady_clock::now();
  const NodeProgress progress = group_->advance();
  if (progress.moved) {  // before an operation is reported as finished
    working_ = working_.load() + (std::chrono::steady_clock::now() - begin);
  }
  bool moved = progress.moved;
  bool all_before_gather = true;
  std::uint64_t number = finished_;
  for (Operation& operation : running_) {
    const Phase before = operation.phase;
    move_on(operation, number++, progress);
    if (operation.phase == Phase::kSummed && all_before_gather) {
      group_->start_all_gather(operation.buffer, operation.parts->shares);
      operation.phase = Phase::kAllGather;
    }
    all_before_gather = all_before_gather && operation.phase == Phase::kAllGather;
    moved = moved || operation.phase != before;
  }
  while (!running_.empty() && finished_ < progress.all_gathers) {
    ++finished_;
    running_.front().done.set_value();
    running_.pop_front();
  }
  return moved;
}

// Advances up to kSummed.
void HierarchicalExecutor::move_on(Operation& operation, std::uint64_t number,
                                   const NodeProgress& progress) {
  if (operation.phase == Phase::kReduceScatter && number < progress.reduce_scatters) {
    operation.phase = Phase::kSummed;
    const HierarchicalParts& parts = *operation.parts;
    if (!parts.between.empty()) {
      const auto me = static_cast<std::size_t>(group_->rank());
      operation.between = between_(
          operation.buffer.subspan(parts.shares[me], parts.shares[me + 1] - parts.shares[me]),
          parts.between, operation.wire);
      operation.phase = Phase::kBetween;
    }
  }
  if (operation.phase == Phase::kBetween && is_ready(operation.between)) {
    operation.between.get();
    operation.phase = Phase::kSummed;
  }
}

void HierarchicalExecutor::fail() noexcept {
  broken_ = true;
  group_->leave();
  for (Operation& operation : running_) {
    if (operation.phase == Phase::kBetween) operation.between.wait();
    operation.done.set_exception(failure_);
  }
  finished_ += running_.size();
  running_.clear();
}

}  // namespace winnow::comm
