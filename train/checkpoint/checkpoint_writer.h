#pragma once

#include <atomic>
#include <exception>
#include <filesystem>
#include <functional>
#include <thread>

#include "train/checkpoint/checkpoint.h"

namespace winnow::train {

// What CheckpointWriter writes: save_checkpoint()'s arguments, and what goes with it.
struct CheckpointJob {
  Checkpoint checkpoint;
  int keep = 1;
  bool is_best = false;
  std::function<void()> before{};  // makes durable what the checkpoint takes for granted
  std::function<void()> after{};   // the checkpoint is durable
};

// Writes checkpoints into a folder beside what else the process does: on a thread of its own, one
// at a time, in the order they are given. `before` and `after` run on that thread, too.
//
// Errors   What a write throws, `before` and `after` included, is thrown once, by the next call of
//          write() or wait(). What comes after it in that job is left out.
// Ends     when the write under way has ended; its error is lost then
// Threads  All calls from one, but for failed() and cpu_seconds().
class CheckpointWriter {
 public:
  explicit CheckpointWriter(std::filesystem::path folder) : folder_(std::move(folder)) {}
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  // Waits for the write before, then begins this one. Where that one failed, its error is thrown
  // and this one is not begun.
  void write(CheckpointJob job);

  // Waits until all that was given is durable.
  void wait();

  // A write has failed, and nobody has been told yet. Never waits.
  bool failed() const noexcept { return failed_.load(std::memory_order_relaxed); }

  // Of a processor's time, what all writes took that have ended.
  double cpu_seconds() const noexcept { return cpu_seconds_.load(std::memory_order_relaxed); }

 private:
  void run(const CheckpointJob& job) noexcept;

  std::filesystem::path folder_;
  std::thread thread_;        // of the write under way, or of one that has ended
  std::exception_ptr error_;  // of thread_, once it is joined
  std::atomic<bool> failed_{false};
  std::atomic<double> cpu_seconds_{0};  // written by one thread at a time
};

}  // namespace winnow::train
