#include "train/checkpoint/checkpoint_writer.h"

#include <ctime>
#include <utility>

#include "common/thread_name.h"

namespace winnow::train {
namespace {

double cpu_seconds_of_this_thread() noexcept {
  timespec taken{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &taken);
  return static_cast<double>(taken.tv_sec) + 1e-9 * static_cast<double>(taken.tv_nsec);
}

}  // namespace

CheckpointWriter::~CheckpointWriter() {
  if (thread_.joinable()) thread_.join();
}

void CheckpointWriter::write(CheckpointJob job) {
  wait();
  thread_ = std::thread([this, job = std::move(job)] { run(job); });
}

void CheckpointWriter::wait() {
  if (thread_.joinable()) thread_.join();
  failed_.store(false, std::memory_order_relaxed);
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void CheckpointWriter::run(const CheckpointJob& job) noexcept {
  name_thread("checkpoint");
  try {
    if (job.before) job.before();
    save_checkpoint(folder_, job.checkpoint, job.keep, job.is_best);
    if (job.after) job.after();
  } catch (...) {
    error_ = std::current_exception();
    failed_.store(true, std::memory_order_relaxed);
  }
  cpu_seconds_ = cpu_seconds_ + cpu_seconds_of_this_thread();
}

}  // namespace winnow::train
