#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "common/comm/mpi/inbox_internal.h"

namespace winnow::comm {

namespace {

constexpr std::chrono::milliseconds kHeartbeat{10};

}  // namespace

void Inbox::put(std::unique_ptr<Operation> operation) {
  const std::lock_guard lock(mutex_);
  operations_.push_back(std::move(operation));
  wake_.notify_one();
}

void Inbox::stop(bool discard) noexcept {
  const std::lock_guard lock(mutex_);
  orders_.stop = true;
  orders_.discard = discard;
  wake_.notify_one();
}

void Inbox::abort(int exit_code) noexcept {
  const std::lock_guard lock(mutex_);
  orders_.abort_code = exit_code;
  wake_.notify_one();
}

std::optional<Inbox::Orders> Inbox::take(Operations& running) {
  std::unique_lock lock(mutex_);
  const auto wanted = [this] { return !operations_.empty() || orders_.stop || orders_.abort_code; };
  if (running.empty() && !wake_.wait_for(lock, kHeartbeat, wanted)) return std::nullopt;
  std::ranges::move(operations_, std::back_inserter(running));
  operations_.clear();
  return orders_;
}

std::optional<int> Inbox::abort_code() const {
  const std::lock_guard lock(mutex_);
  return orders_.abort_code;
}

}  // namespace winnow::comm
