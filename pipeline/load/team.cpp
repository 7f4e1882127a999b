#include "pipeline/load/team.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "common/thread_name.h"

namespace winnow::pipeline {
namespace {

// How many of the remaining indices to take at once: enough to keep threads off each other's cache
// lines, and fewer towards the end, so that all finish together.
std::size_t chunk_for(std::size_t left, std::size_t threads) noexcept {
  return std::clamp<std::size_t>(left / (threads * 4), 1, 16);
}

}  // namespace

struct Team::State {
  // Chunks are taken in ascending order, and each is processed up to its first exception, so the
  // lowest index that throws is always reached.
  void take_chunks() {
    std::size_t finished = 0;
    while (!failed.load(std::memory_order_relaxed)) {
      std::size_t begin = next.load(std::memory_order_relaxed);
      std::size_t end = begin;
      do {
        if (begin >= count) break;
        end = begin + chunk_for(count - begin, workers.size() + 1);
      } while (!next.compare_exchange_weak(begin, end, std::memory_order_relaxed));
      if (begin >= count) break;
      for (std::size_t i = begin; i < end; ++i) {
        if (stopped.load(std::memory_order_relaxed)) break;
        try {
          (*work)(i);
          ++finished;
        } catch (...) {
          failed.store(true, std::memory_order_relaxed);
          const std::lock_guard lock(mutex);
          if (!failure || i < failed_at) {
            failure = std::current_exception();
            failed_at = i;
          }
          break;
        }
      }
    }
    const std::lock_guard lock(mutex);
    done += finished;
  }

  void serve() {
    name_thread("decoder");
    std::uint64_t seen = 0;
    std::unique_lock lock(mutex);
    while (true) {
      wake.wait(lock, [&] { return closing || (open && job != seen); });
      if (closing) return;
      seen = job;
      ++inside;
      lock.unlock();
      take_chunks();
      lock.lock();
      if (--inside == 0) left.notify_one();
    }
  }

  void close() {
    {
      const std::lock_guard lock(mutex);
      closing = true;
    }
    wake.notify_all();
    for (std::thread& worker : workers) worker.join();
  }

  // The current loop; only written while no worker is inside.
  const std::function<void(std::size_t)>* work = nullptr;
  std::size_t count = 0;
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::atomic<bool> stopped{false};

  std::mutex mutex;  // guards the fields below
  std::condition_variable wake;
  std::condition_variable left;
  std::uint64_t job = 0;  // number of the current loop
  bool open = false;      // workers may still join it
  int inside = 0;         // number of workers in it
  std::size_t done = 0;
  std::size_t failed_at = 0;
  std::exception_ptr failure;
  bool closing = false;

  std::vector<std::thread> workers;
};

Team::Team(int threads) : state_(std::make_unique<State>()) {
  try {
    for (int i = 1; i < threads; ++i) {
      state_->workers.emplace_back([state = state_.get()] { state->serve(); });
    }
  } catch (...) {
    state_->close();
    throw;
  }
}

Team::~Team() { state_->close(); }

bool Team::run(std::size_t count, const std::function<void(std::size_t)>& work) {
  State& state = *state_;
  {
    const std::lock_guard lock(state.mutex);
    state.work = &work;
    state.count = count;
    state.next = 0;
    state.failed = false;
    state.failure = nullptr;
    state.done = 0;
    ++state.job;
    state.open = true;
  }
  state.wake.notify_all();
  state.take_chunks();
  std::unique_lock lock(state.mutex);
  state.open = false;  // workers that wake up later find nothing to do
  state.left.wait(lock, [&] { return state.inside == 0; });
  if (state.failure) std::rethrow_exception(state.failure);
  return state.done == count;
}

void Team::stop() noexcept { state_->stopped = true; }

}  // namespace winnow::pipeline
