#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace winnow {

// Storage with latency, for FakeSource::on_read. No read returns before two reads have been in
// progress at once. After two minutes all return, and the test fails.
class JointReads {
 public:
  void read() {
    std::unique_lock lock(mutex_);
    if (++reading_ > 1) joint_ = true;
    changed_.notify_all();
    const auto over = [this] { return joint_ || given_up_; };
    if (!changed_.wait_for(lock, std::chrono::minutes(2), over)) given_up_ = true;
    --reading_;
  }
  bool joint() const {
    const std::lock_guard lock(mutex_);
    return joint_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int reading_ = 0;
  bool joint_ = false;
  bool given_up_ = false;
};

}  // namespace winnow
