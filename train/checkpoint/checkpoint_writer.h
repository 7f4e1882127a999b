#pragma once

#include <atomic>
#include <exception>
#include <filesystem>
#include <functional>
#include <thread>

#include "train/checkpoint/checkpoint.h"

namespace winnow::train {

// One write of CheckpointWriter: the arguments of save_checkpoint(), and two actions.
struct CheckpointJob {
  Checkpoint checkpoint;
  int keep = 1;
  bool is_best = false;
  // Called before the write; makes durable what the checkpoint relies on.
  std::function<void()> before{};
  std::function<void()> after{};  // called after the checkpoint is durable
};

// Writes checkpoints into a folder in the background, on a thread of its own: one at a time, in the
// order given. CheckpointJob::before and after also run on that thread.
//
// Errors      An exception of a write, `before` or `after` is thrown once, by the next call of
//             write() or wait(). The rest of that job is skipped.
// Destructor  Waits for the write in progress; its error is lost.
// Threads     All calls from one thread, except failed() and cpu_seconds().
class CheckpointWriter {
 public:
  explicit CheckpointWriter(std::filesystem::path folder) : folder_(std::move(folder)) {}
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  // Waits for the previous write, then starts this one. If the previous write failed, throws its
  // error and does not start.
  void write(CheckpointJob job);

  // Waits until all writes are durable.
  void wait();

  // Whether a write has failed and its error was not yet thrown. Never blocks.
  bool failed() const noexcept { return failed_.load(std::memory_order_relaxed); }

  // CPU seconds of all finished writes together.
  double cpu_seconds() const noexcept { return cpu_seconds_.load(std::memory_order_relaxed); }

 private:
  void run(const CheckpointJob& job) noexcept;

  std::filesystem::path folder_;
  std::thread thread_;        // runs the write in progress, or has finished it
  std::exception_ptr error_;  // error of the last write, valid once thread_ is joined
  std::atomic<bool> failed_{false};
  std::atomic<double> cpu_seconds_{0};  // written by one thread at a time
};

}  // namespace winnow::train
